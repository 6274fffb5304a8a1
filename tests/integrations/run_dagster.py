"""The example for Dagster, materialised, and what its metadata say."""

from __future__ import annotations

import dagster

from pith_client import Result


def test_the_example_materialises_the_reduced_table(expected: Result) -> None:
    from dagster_selection import definitions

    with dagster.DagsterInstance.ephemeral() as instance:
        done = definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance
        )
        assert done.success
        table = done.output_for_node("wine_features")
        assert set(table.columns) == set(expected.columns)
        (event,) = done.asset_materializations_for_node("wine_features")
        metadata = event.metadata
    assert metadata["pith/names"].value == expected.names
    assert metadata["dagster/row_count"].value == 178
    lineage = metadata["dagster/column_lineage"].value.deps_by_column
    assert {name: [dep.column_name for dep in deps] for name, deps in lineage.items()} == {
        name: [name] for name in expected.columns
    }
    assert expected.held_out is not None
    assert metadata["pith/held_out_nats"].value == expected.held_out.information[3]
