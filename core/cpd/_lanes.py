"""What is written out as vector instructions: rows of floats added, and softened.

Left to itself, LLVM cannot prove that rows do not overlap and spends as long on checking that as on
adding, and sums the numbers of a row one after the other. Eight at a time, always the same eight,
they are added at the cache's speed and to the same last digit on every processor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

LANES = 8
"""Floats added by one instruction; every row's width is a multiple of it."""

MAX_WIDTH = 32
"""Widest row: kernels are compiled once for each multiple of LANES up to here."""

LOG_FLOOR = -80.0
"""Log-probabilities this far below the largest of a row count as zero."""

_SINGLES = ir.VectorType(ir.FloatType(), LANES)
_WHOLES = ir.VectorType(ir.IntType(32), LANES)
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
_EXPONENTIAL = (
    1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
    5.0000001201e-1,
)  # fmt: skip

_TURNS = (
    (1, [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]),
    (2, [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]),
    (4, [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]),
)
"""How pairs of vectors, so far apart, exchange ones, twos and fours: each takes one instruction."""


def _at_lane(builder: Any, data: Any, offset: Any, lane: int, vector: Any) -> Any:
    first = builder.add(offset, ir.Constant(offset.type, lane))
    return builder.bitcast(builder.gep(data, [first]), vector.as_pointer())


def _add_rows(typingctx: Any, target: Any, at: Any, source: Any, rows: Any, width: Any) -> Any:
    """target[at : at + W] += source[row : row + W] for each of `rows`, with W = len(width).

    `target` and `source` are float32 but for a target that may be float64, of any shape in the
    order of C; `at` and `rows` (a tuple) are offsets into their memory, and `width` is a tuple
    whose length makes W a constant of the compiled code.
    """
    _check_layout(target, source)
    signature = types.void(target, at, source, rows, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target_type, _, source_type, _, _ = signature.args
        target_data = context.make_array(target_type)(context, builder, args[0]).data
        source_data = context.make_array(source_type)(context, builder, args[2]).data
        offsets = [builder.extract_value(args[3], i) for i in range(len(rows))]
        is_double = target_type.dtype == types.float64
        wanted = ir.VectorType(ir.DoubleType(), LANES) if is_double else _SINGLES
        for lane in range(0, len(width), LANES):
            place = _at_lane(builder, target_data, args[1], lane, wanted)
            total = builder.load(place, align=4)
            for offset in offsets:
                row = _at_lane(builder, source_data, offset, lane, _SINGLES)
                added = builder.load(row, align=4)
                total = builder.fadd(total, builder.fpext(added, wanted) if is_double else added)
            builder.store(total, place, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _add_to_rows(typingctx: Any, target: Any, rows: Any, source: Any, at: Any, width: Any) -> Any:
    """target[row : row + W] += source[at : at + W] for each of `rows`, both float32.

    Arguments are those of `add_rows`; what is added is loaded once. Rows must not overlap.
    """
    _check_layout(target, source)
    signature = types.void(target, rows, source, at, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target_data = context.make_array(signature.args[0])(context, builder, args[0]).data
        source_data = context.make_array(signature.args[2])(context, builder, args[2]).data
        lanes = range(0, len(width), LANES)
        parts = [_at_lane(builder, source_data, args[3], lane, _SINGLES) for lane in lanes]
        added = [builder.load(part, align=4) for part in parts]
        for i in range(len(rows)):
            row = builder.extract_value(args[1], i)
            for lane, part in zip(lanes, added, strict=True):
                place = _at_lane(builder, target_data, row, lane, _SINGLES)
                total = builder.fadd(builder.load(place, align=4), part)
                builder.store(total, place, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _copy_lanes(typingctx: Any, target: Any, at: Any, source: Any, start: Any, n: Any) -> Any:
    """target[at : at + n] = source[start : start + n], both float32, n a multiple of LANES."""
    _check_layout(target, source)
    signature = types.void(target, types.intp, source, types.intp, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target_array, at, source_array, start, n = args
        to = context.make_array(signature.args[0])(context, builder, target_array).data
        of = context.make_array(signature.args[2])(context, builder, source_array).data
        none, step = (ir.Constant(n.type, value) for value in (0, LANES))
        with cgutils.for_range_slice(builder, none, n, step, n.type) as (lane, _):
            value = _at_lane(builder, of, builder.add(start, lane), 0, _SINGLES)
            place = _at_lane(builder, to, builder.add(at, lane), 0, _SINGLES)
            builder.store(builder.load(value, align=4), place, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _check_layout(*arrays: Any) -> None:
    if any(array.layout != "C" for array in arrays):
        raise TypingError("offsets are those of arrays in the order of C")


def _turn(typingctx: Any, eights: Any, at: Any, source: Any, first: Any, step: Any, n: Any) -> Any:
    """Lay eight rows side by side: eights[at + 8 * lane + i] = source[first + i * step + lane].

    Both are float32, and lanes are eight. Of fewer than eight rows, `n`, the last is taken again.
    """
    _check_layout(eights, source)
    signature = types.void(eights, types.intp, source, types.intp, types.intp, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to = context.make_array(signature.args[0])(context, builder, args[0]).data
        of = context.make_array(signature.args[2])(context, builder, args[2]).data
        rows = [_at_lane(builder, of, at, 0, _SINGLES) for at in _offsets(builder, *args[3:])]
        lanes = _turned(builder, [builder.load(row, align=4) for row in rows])
        for lane, values in enumerate(lanes):
            builder.store(values, _at_lane(builder, to, args[1], LANES * lane, _SINGLES), align=4)
        return context.get_dummy_value()

    return signature, codegen


def _turn_back(
    typingctx: Any, target: Any, first: Any, step: Any, n: Any, eights: Any, at: Any
) -> Any:
    """Put the rows back where `turn` took them from."""
    _check_layout(target, eights)
    signature = types.void(target, types.intp, types.intp, types.intp, eights, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to = context.make_array(signature.args[0])(context, builder, args[0]).data
        of = context.make_array(signature.args[4])(context, builder, args[4]).data
        lanes = [_at_lane(builder, of, args[5], LANES * i, _SINGLES) for i in range(LANES)]
        rows = _turned(builder, [builder.load(lane, align=4) for lane in lanes])
        for offset, row in zip(_offsets(builder, *args[1:4]), rows, strict=True):
            builder.store(row, _at_lane(builder, to, offset, 0, _SINGLES), align=4)
        return context.get_dummy_value()

    return signature, codegen


def _highest(typingctx: Any, eights: Any, first: Any, stop: Any, tops: Any, at: Any) -> Any:
    """Write the highest of lanes first..stop to tops[at : at + 8], for each of eight rows."""
    _check_layout(eights, tops)
    signature = types.void(eights, types.intp, types.intp, tops, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        to = context.make_array(signature.args[3])(context, builder, args[3]).data
        top = _variable(builder, _of(-math.inf))
        with _lanes(builder, data, args[1], args[2]) as (_, place):
            x = builder.load(place, align=4)
            builder.store(_higher(builder, builder.load(top), x), top)
        builder.store(builder.load(top), _at_lane(builder, to, args[4], 0, _SINGLES), align=4)
        return context.get_dummy_value()

    return signature, codegen


def _soften(
    typingctx: Any, eights: Any, first: Any, stop: Any, tops: Any, totals: Any, at: Any
) -> Any:
    """Replace x by exp(x - top) in lanes first..stop of eight rows, and write the sums of these.

    `tops` and `totals` of the rows are at `at`. Nothing counts as lower by more than LOG_FLOOR.
    Every eighth lane is added to one of eight sums, and then these, always in the same order.
    """
    _check_layout(eights, tops, totals)
    signature = types.void(eights, types.intp, types.intp, tops, totals, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, first, stop, tops, totals, at = args
        data = context.make_array(signature.args[0])(context, builder, array).data
        tops = context.make_array(signature.args[3])(context, builder, tops).data
        totals = context.make_array(signature.args[4])(context, builder, totals).data
        top = builder.load(_at_lane(builder, tops, at, 0, _SINGLES), align=4)
        sums = _variable(builder, ir.Constant(ir.ArrayType(_SINGLES, LANES), [_of(0)] * LANES))
        none = ir.Constant(first.type, 0)
        with _lanes(builder, data, first, stop) as (lane, place):
            below = builder.fsub(builder.load(place, align=4), top)
            power = _exp(builder, _higher(builder, below, _of(LOG_FLOOR)))
            builder.store(power, place, align=4)
            eighth = builder.and_(builder.sub(lane, first), ir.Constant(first.type, LANES - 1))
            own = builder.gep(sums, [none, eighth])
            builder.store(builder.fadd(builder.load(own), power), own)
        parts = [builder.load(builder.gep(sums, [none, none.type(i)])) for i in range(LANES)]
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [builder.fadd(low, high) for low, high in pairs]
        builder.store(parts[0], _at_lane(builder, totals, at, 0, _SINGLES), align=4)
        return context.get_dummy_value()

    return signature, codegen


def _multiply(typingctx: Any, eights: Any, first: Any, stop: Any, factors: Any, at: Any) -> Any:
    """Multiply lanes first..stop of eight rows by the factor of each, at factors[at : at + 8]."""
    _check_layout(eights, factors)
    signature = types.void(eights, types.intp, types.intp, factors, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        of = context.make_array(signature.args[3])(context, builder, args[3]).data
        factor = builder.load(_at_lane(builder, of, args[4], 0, _SINGLES), align=4)
        with _lanes(builder, data, args[1], args[2]) as (_, place):
            builder.store(builder.fmul(builder.load(place, align=4), factor), place, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _variable(builder: Any, value: Any) -> Any:
    """A place that is set anew wherever the code comes by, but made only once."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return place


@contextmanager
def _lanes(builder: Any, data: Any, first: Any, stop: Any) -> Iterator[tuple[Any, Any]]:
    """Go through lanes first..stop of eight rows: each, and where its eight values lie."""
    one = ir.Constant(first.type, 1)
    with cgutils.for_range_slice(builder, first, stop, one, first.type) as (lane, _):
        at = builder.mul(lane, ir.Constant(first.type, LANES))
        yield lane, _at_lane(builder, data, at, 0, _SINGLES)


def _offsets(builder: Any, first: Any, step: Any, n: Any) -> Iterator[Any]:
    """Where eight rows begin, the last of `n` as often as rows are missing."""
    for i in range(LANES):
        is_there = builder.icmp_signed("<", ir.Constant(n.type, i), n)
        row = builder.select(is_there, n.type(i), builder.sub(n, n.type(1)))
        yield builder.add(first, builder.mul(row, step))


def _turned(builder: Any, vectors: list[Any]) -> list[Any]:
    """Eight vectors of eight, in which what was the i-th of the j-th is the j-th of the i-th."""
    for distance, low, high in _TURNS:
        turned = list(vectors)
        for i in range(LANES):
            if i & distance == 0:
                pair = vectors[i], vectors[i + distance]
                turned[i] = builder.shuffle_vector(*pair, ir.Constant(_WHOLES, low))
                turned[i + distance] = builder.shuffle_vector(*pair, ir.Constant(_WHOLES, high))
        vectors = turned
    return [vectors[i] for i in (0, 2, 1, 3, 4, 6, 5, 7)]


def _of(value: float) -> Any:
    return ir.Constant(_SINGLES, [value] * LANES)


def _whole(value: int) -> Any:
    return ir.Constant(_WHOLES, [value] * LANES)


def _higher(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


def _exp(builder: Any, x: Any) -> Any:
    """Exponentials of x in [LOG_FLOOR, 0]: 2^n times a polynomial in what is left of x."""
    kind = ir.FunctionType(_SINGLES, [_SINGLES])
    floor = builder.module.declare_intrinsic(f"llvm.floor.v{LANES}f32", fnty=kind)
    scaled = builder.fadd(builder.fmul(x, _of(_LOG2_E)), _of(0.5))
    n = builder.call(floor, [scaled])
    r = builder.fsub(x, builder.fmul(n, _of(_LN2_HIGH)))
    r = builder.fsub(r, builder.fmul(n, _of(_LN2_LOW)))
    p = _of(_EXPONENTIAL[0])
    for coefficient in _EXPONENTIAL[1:]:
        p = builder.fadd(builder.fmul(p, r), _of(coefficient))
    p = builder.fmul(builder.fmul(p, r), r)
    p = builder.fadd(builder.fadd(p, r), _of(1))
    bits = builder.shl(builder.add(builder.fptosi(n, _WHOLES), _whole(127)), _whole(23))
    return builder.fmul(p, builder.bitcast(bits, _SINGLES))


add_rows: Any = intrinsic(_add_rows)
add_to_rows: Any = intrinsic(_add_to_rows)
copy_lanes: Any = intrinsic(_copy_lanes)
turn: Any = intrinsic(_turn)
turn_back: Any = intrinsic(_turn_back)
highest: Any = intrinsic(_highest)
soften: Any = intrinsic(_soften)
multiply: Any = intrinsic(_multiply)
