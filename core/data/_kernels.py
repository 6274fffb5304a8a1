"""Compiled work on fine codes: counts by group, and codes by a table of levels.

Loops are written out, here as in every file of kernels: each array expression is a function that
numba compiles for it, and a first start waits for all of them.
"""

from __future__ import annotations

from core.arrays import Bytes, Floats, Ints
from core.compiled import kernel


@kernel
def count_columns(codes: Bytes, group: Ints, weights: Floats, start: Ints, counts: Floats) -> None:
    """Add the weight of every row to counts[start[n] + level, group]; missing ones to the last."""
    for n in range(len(codes)):
        first, missing = start[n], start[n + 1] - start[n] - 1
        for row in range(codes.shape[1]):
            counts[first + min(codes[n, row], missing), group[row]] += weights[row]


@kernel
def tally_columns(codes: Bytes, labels: Bytes, start: Ints, counts: Floats) -> None:
    """The same where every row counts once, by its label: a third faster."""
    for n in range(len(codes)):
        first, missing = start[n], start[n + 1] - start[n] - 1
        for row in range(codes.shape[1]):
            counts[first + min(codes[n, row], missing), labels[row]] += 1


@kernel
def translate(codes: Bytes, rows: Ints, tables: Bytes, out: Bytes) -> None:
    """out[i, n] = tables[n, codes[n, rows[i]]], a block of rows at a time."""
    for start in range(0, len(rows), 256):
        stop = min(start + 256, len(rows))
        for n in range(len(codes)):
            for i in range(start, stop):
                out[i, n] = tables[n, codes[n, rows[i]]]


@kernel
def translate_columns(codes: Bytes, rows: Ints, tables: Bytes, out: Bytes) -> None:
    """out[n, i] = tables[n, codes[n, rows[i]]], column by column; of all rows also in place."""
    for n in range(len(codes)):
        column, table, translated = codes[n], tables[n], out[n]
        for i in range(len(rows)):
            translated[i] = table[column[rows[i]]]


@kernel
def hold(columns: Bytes, tables: Bytes, weights: Floats, held: Floats) -> None:
    """Add the weight of every row to held[n, tables[n, its fine code]] of each column (n_rows,)."""
    for n in range(len(columns)):
        for row in range(columns.shape[1]):
            held[n, tables[n, columns[n, row]]] += weights[row]
