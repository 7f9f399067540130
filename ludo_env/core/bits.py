"""Integer operations that numpy's scalars lack, each with a Python twin for runs without JIT.

The undecorated functions are the twins: they run under ``NUMBA_DISABLE_JIT=1``. Compiled callers
get the one-instruction versions registered below them.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

_INT64 = types.int64


def popcount(x: int) -> int:
    """Number of set bits of a non-negative integer."""
    return int(x).bit_count()


def highest_bit(x: int) -> int:
    """The most significant set bit of a non-negative integer, alone; 0 of 0."""
    return 1 << int(x).bit_length() >> 1


def wrapping_mul(x: int, y: int) -> int:
    """The product modulo 2**64, as a signed 64-bit integer."""
    product = (int(x) * int(y)) & 0xFFFFFFFFFFFFFFFF
    return product - (product >> 63 << 64)


def write_bits(target: np.ndarray, start: int, bits: int, count: int) -> None:
    """Write the lowest ``count`` bits as zeros and ones into ``target[start : start + count]``.

    ``target`` is a contiguous row of int8, long enough; ``count`` is 4, 8 or 48.
    """
    for i in range(count):
        target[start + i] = bits >> i & 1


@intrinsic
def _popcount(typing_context, x):
    def emit(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return _INT64(_INT64), emit


@intrinsic
def _leading_zeros(typing_context, x):
    def emit(context, builder, signature, arguments):
        zero_is_undefined = context.get_constant(types.boolean, 1)
        return builder.ctlz(arguments[0], zero_is_undefined)

    return _INT64(_INT64), emit


@intrinsic
def _wrapping_mul(typing_context, x, y):
    """A plain product: numba's own tells the compiler that no signed product overflows."""

    def emit(context, builder, signature, arguments):
        return builder.mul(*arguments)

    return _INT64(_INT64, _INT64), emit


@overload(popcount)
def _compiled_popcount(x):
    return lambda x: _popcount(x)


@overload(highest_bit)
def _compiled_highest_bit(x):
    return lambda x: 1 << (63 - _leading_zeros(x)) if x else 0


@overload(wrapping_mul)
def _compiled_wrapping_mul(x, y):
    return lambda x, y: _wrapping_mul(x, y)


@intrinsic(prefer_literal=True)
def _write_bits(typing_context, target, start, bits, count):
    """One vector store for each power of two in ``count``, a bit widened to a byte."""
    if getattr(count, "literal_value", 0) not in (4, 8, 48):
        raise TypingError("write_bits writes 4, 8 or 48 bits")

    def emit(context, builder, signature, arguments):
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, value=arguments[0])
        place, rest = builder.gep(array.data, [arguments[1]]), arguments[2]
        for width in (32, 16, 8, 4):
            if not count.literal_value & width:
                continue
            flags = builder.bitcast(
                builder.trunc(rest, ir.IntType(width)), ir.VectorType(ir.IntType(1), width)
            )
            row = ir.VectorType(ir.IntType(8), width)
            store = builder.store(
                builder.zext(flags, row), builder.bitcast(place, row.as_pointer())
            )
            store.align = 1
            place = builder.gep(place, [ir.Constant(ir.IntType(64), width)])
            rest = builder.lshr(rest, ir.Constant(ir.IntType(64), width))
        return context.get_dummy_value()

    return types.void(target, _INT64, _INT64, count), emit


@overload(write_bits, prefer_literal=True)
def _compiled_write_bits(target, start, bits, count):
    return lambda target, start, bits, count: _write_bits(target, start, bits, count)
