"""Integer operations that numpy's scalars lack, each with a Python twin for runs without JIT.

The undecorated functions are the twins: they run under ``NUMBA_DISABLE_JIT=1``. Compiled callers
get the one-instruction versions registered below them.
"""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic, overload

_INT64 = types.int64


def popcount(x: int) -> int:
    """Number of set bits of a non-negative integer."""
    return int(x).bit_count()


def highest_bit(x: int) -> int:
    """The most significant set bit of a positive integer, alone."""
    return 1 << (int(x).bit_length() - 1)


def wrapping_mul(x: int, y: int) -> int:
    """The product modulo 2**64, as a signed 64-bit integer."""
    product = (int(x) * int(y)) & 0xFFFFFFFFFFFFFFFF
    return product - (product >> 63 << 64)


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


@overload(popcount)
def _compiled_popcount(x):
    return lambda x: _popcount(x)


@overload(highest_bit)
def _compiled_highest_bit(x):
    return lambda x: 1 << (63 - _leading_zeros(x))


@overload(wrapping_mul)
def _compiled_wrapping_mul(x, y):
    return lambda x, y: x * y
