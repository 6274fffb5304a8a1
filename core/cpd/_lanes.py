"""The one vector instruction everything rests on: add rows of floats to a row of floats.

Left to itself, LLVM cannot prove that the rows do not overlap and spends as long on checking that
as on adding. Written out here as vector loads, adds and stores it reaches the cache's speed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

LANES = 8
"""Floats added by one instruction; every row's width is a multiple of it."""

MAX_WIDTH = 32
"""Widest row: kernels are compiled once for each multiple of LANES up to here."""


def _add_rows(typingctx: Any, target: Any, at: Any, source: Any, rows: Any, width: Any) -> Any:
    """target[at : at + W] += source[row : row + W] for each of `rows`, with W = len(width).

    `target` and `source` are float32 but for a target that may be float64, of any shape in the
    order of C; `at` and `rows` (a tuple) are offsets into their memory, and `width` is a tuple
    whose length makes W a constant of the compiled code.
    """
    if target.layout != "C" or source.layout != "C":
        raise TypingError("offsets are those of arrays in the order of C")
    signature = types.void(target, at, source, rows, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target_type, _, source_type, _, _ = signature.args
        target_data = context.make_array(target_type)(context, builder, args[0]).data
        source_data = context.make_array(source_type)(context, builder, args[2]).data
        offsets = [builder.extract_value(args[3], i) for i in range(len(rows))]
        is_double = target_type.dtype == types.float64
        single = ir.VectorType(ir.FloatType(), LANES)
        wanted = ir.VectorType(ir.DoubleType(), LANES) if is_double else single

        def at_lane(data: Any, offset: Any, lane: int, vector: Any) -> Any:
            first = builder.add(offset, ir.Constant(offset.type, lane))
            return builder.bitcast(builder.gep(data, [first]), vector.as_pointer())

        for lane in range(0, len(width), LANES):
            place = at_lane(target_data, args[1], lane, wanted)
            total = builder.load(place, align=4)
            for offset in offsets:
                row = builder.load(at_lane(source_data, offset, lane, single), align=4)
                total = builder.fadd(total, builder.fpext(row, wanted) if is_double else row)
            builder.store(total, place, align=4)
        return context.get_dummy_value()

    return signature, codegen


add_rows: Any = intrinsic(_add_rows)
