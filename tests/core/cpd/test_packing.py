"""Equal rows joined and variables sharing bytes, without losing a value."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cpd.packing import Packed, distinct_rows
from core.cpd.rows import Rows, prepare_rows
from tests.core.reference import MISSING, Bytes
from tests.core.worlds import World, examples, random_world

worlds = st.builds(
    random_world,
    st.integers(0, 10**6),
    st.integers(1, 200),
    missing=st.sampled_from([0.0, 0.2]),
    weighted=st.booleans(),
)


def unpacked(packed: Packed, rows: Rows) -> Bytes:
    """The codes again, by walking from every leaf to the root."""
    tree, n_rows = packed.tree, packed.codes.shape[1]
    codes = np.full((n_rows, rows.n_vars), MISSING, dtype=np.uint8)
    for g, group in enumerate(packed.codes):
        for r, code in enumerate(group):
            node, variable = tree.leaf_start[g] + int(code), tree.group_vars[g + 1]
            while node != 0:
                variable, level = variable - 1, int(tree.node_level[node])
                if level:
                    codes[r, variable] = level - rows.var_start[variable]
                node = int(tree.node_parent[node])
            assert variable == tree.group_vars[g]
    return codes


@examples(30)
@given(worlds)
def test_packed_rows_unpack_to_the_distinct_ones(world: World) -> None:
    rows = prepare_rows(world.codes, world.n_levels, "joint", world.row_weights)
    counted: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(world.codes.tolist(), world.weights, strict=True):
        counted[tuple(row)] += weight
    found = [tuple(row) for row in unpacked(rows.packed, rows).tolist()]
    assert found == list(counted)
    assert rows.weights == pytest.approx(list(counted.values()))


@examples(30)
@given(worlds)
def test_each_block_holds_rows_of_one_class(world: World) -> None:
    rows = prepare_rows(world.codes, world.n_levels, "per_class", world.row_weights)
    packed = rows.packed
    for b, label in enumerate(packed.block_class):
        first, last = packed.blocks[b], packed.blocks[b + 1]
        labels = rows.source[rows.joined.rows[first:last], -1]
        assert set(labels) == {rows.classes[label]}


def test_rows_are_joined_only_within_their_key() -> None:
    codes = np.array([[1, 2], [1, 2], [0, 2], [1, 2]], dtype=np.uint8)
    joined = distinct_rows(codes.T.copy(), np.array([1, 1, 0, 0]), np.array([1.0, 2, 4, 8]))
    assert joined.rows.tolist() == [2, 3, 0]
    assert joined.weights.tolist() == [4, 8, 3]


def test_a_byte_that_is_full_takes_no_other_variable() -> None:
    codes = np.column_stack([np.arange(510) % 255, np.arange(510) // 255]).astype(np.uint8)
    rows = prepare_rows(codes, np.array([255, 2]), "joint")
    assert unpacked(rows.packed, rows).tolist() == codes.tolist()
    assert len(rows.packed.tree.leaf_start) == 2
