"""For Dagster: an asset that is the reduced table of another.

`pip install 'pith-client[dagster]'`.
"""

from typing import Any

import dagster

from pith_client.blocking import Pith
from pith_client.result import Result

# Without `from __future__ import annotations`: Dagster reads the annotations of what it decorates.


class PithResource(dagster.ConfigurableResource):
    """Where the service is, and the key, where it asks for one."""

    url: str = "http://127.0.0.1:8000"
    key: str | None = None


def selection_asset(
    name: str, *, upstream: str, target: str, group_name: str | None = None, **options: Any
) -> dagster.AssetsDefinition:
    """An asset of the columns of `upstream`, a frame, that tell most about its `target`.

    `options` are those of a job, such as `k`, `method` or `seed`. It needs the resource `pith`. Its
    metadata say which features were chosen, how much they tell, and of which column each one is.
    """

    @dagster.asset(
        name=name,
        group_name=group_name,
        ins={"table": dagster.AssetIn(key=upstream)},
        description=f"The columns of {upstream} that tell most about {target}.",
        kinds={"pith"},
    )
    def selected(
        context: dagster.AssetExecutionContext, table: Any, pith: PithResource
    ) -> dagster.MaterializeResult:
        with Pith(pith.url, pith.key) as client:
            key = f"{context.run.run_id}/{name}/{context.retry_number}"
            result = client.select(table, target, idempotency_key=key, progress=False, **options)
        kept = result.transform(table)
        return dagster.MaterializeResult(value=kept, metadata=_metadata(result, upstream, kept))

    return selected


def _metadata(result: Result, upstream: str, kept: Any) -> dict[str, Any]:
    source = dagster.AssetKey(upstream)
    deps = {
        column: [dagster.TableColumnDep(asset_key=source, column_name=column)]
        for column in result.columns
    }
    return {
        "pith/job_id": result.job_id,
        "pith/names": result.names,
        "pith/suggested_k": result.suggested_k,
        "dagster/row_count": len(kept),
        "dagster/column_lineage": dagster.TableColumnLineage(deps_by_column=deps),
        **_held_out(result),
    }


def _held_out(result: Result) -> dict[str, float]:
    """What the chosen features tell; the curve of a method that has one goes on beyond them."""
    curve = result.held_out.information if result.held_out else []
    n_chosen = len(result.names)
    return {"pith/held_out_nats": curve[n_chosen]} if n_chosen < len(curve) else {}
