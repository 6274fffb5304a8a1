"""What is written out as vector instructions: rows of floats added, and softened.

Left to itself, LLVM cannot prove that rows do not overlap and spends as long on checking that as on
adding, and sums the numbers of a row one after the other. Eight at a time, always the same eight,
they are added at the cache's speed and to the same last digit on every processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
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


def _highest(typingctx: Any, lanes: Any, first: Any, stop: Any) -> Any:
    """The highest of lanes[first:stop], float32, behind which there is room for LANES more."""
    _check_layout(lanes)
    signature = types.float32(lanes, types.intp, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        tops = _variable(builder, _of(-math.inf))
        with _eights(builder, data, *args[1:]) as (place, is_inside):
            x = builder.select(is_inside, builder.load(place, align=4), _of(-math.inf))
            builder.store(_higher(builder, builder.load(tops), x), tops)
        return _fold(builder, builder.load(tops), _higher)

    return signature, codegen


def _soften(typingctx: Any, lanes: Any, first: Any, stop: Any, top: Any) -> Any:
    """Replace x by exp(x - top) in lanes[first:stop], whose highest is `top`; the sum of these.

    Nothing counts as lower than `top` by more than LOG_FLOOR. There is room as for `highest`.
    """
    _check_layout(lanes)
    signature = types.float32(lanes, types.intp, types.intp, types.float32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, first, stop, top = args
        data = context.make_array(signature.args[0])(context, builder, array).data
        sums = _variable(builder, _of(0))
        with _eights(builder, data, first, stop) as (place, is_inside):
            x = builder.load(place, align=4)
            below = builder.fsub(x, _splat(builder, top))
            power = _exp(builder, _higher(builder, below, _of(LOG_FLOOR)))
            builder.store(builder.select(is_inside, power, x), place, align=4)
            counted = builder.select(is_inside, power, _of(0))
            builder.store(builder.fadd(builder.load(sums), counted), sums)
        return _fold(builder, builder.load(sums), lambda b, x, y: b.fadd(x, y))

    return signature, codegen


def _multiply(typingctx: Any, lanes: Any, first: Any, stop: Any, factor: Any) -> Any:
    """lanes[first:stop] *= factor, with room as for `highest`."""
    _check_layout(lanes)
    signature = types.void(lanes, types.intp, types.intp, types.float32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, first, stop, factor = args
        data = context.make_array(signature.args[0])(context, builder, array).data
        with _eights(builder, data, first, stop) as (place, is_inside):
            x = builder.load(place, align=4)
            product = builder.fmul(x, _splat(builder, factor))
            builder.store(builder.select(is_inside, product, x), place, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _variable(builder: Any, value: Any) -> Any:
    """A place that is set anew wherever the code comes by, but made only once."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return place


@contextmanager
def _eights(builder: Any, data: Any, first: Any, stop: Any) -> Iterator[tuple[Any, Any]]:
    """Go through data[first:stop] by vectors: where each lies, and which of its lanes count."""
    step = ir.Constant(first.type, LANES)
    with cgutils.for_range_slice(builder, first, stop, step, first.type) as (at, _):
        n_left = builder.trunc(builder.sub(stop, at), ir.IntType(32))
        lanes = ir.Constant(_WHOLES, list(range(LANES)))
        is_inside = builder.icmp_signed("<", lanes, _splat(builder, n_left))
        yield _at_lane(builder, data, at, 0, _SINGLES), is_inside


def _of(value: float) -> Any:
    return ir.Constant(_SINGLES, [value] * LANES)


def _whole(value: int) -> Any:
    return ir.Constant(_WHOLES, [value] * LANES)


def _splat(builder: Any, value: Any) -> Any:
    vector = ir.VectorType(value.type, LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, _whole(0))


def _higher(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


def _fold(builder: Any, vector: Any, join: Callable[[Any, Any, Any], Any]) -> Any:
    """One number from eight: halves are joined lane by lane until one is left."""
    n_lanes = LANES
    while n_lanes > 1:
        n_lanes //= 2
        halves = (range(n_lanes), range(n_lanes, 2 * n_lanes))
        kind = ir.VectorType(ir.IntType(32), n_lanes)
        low, high = (
            builder.shuffle_vector(vector, vector, ir.Constant(kind, list(half))) for half in halves
        )
        vector = join(builder, low, high)
    return builder.extract_element(vector, ir.IntType(32)(0))


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
highest: Any = intrinsic(_highest)
soften: Any = intrinsic(_soften)
multiply: Any = intrinsic(_multiply)
