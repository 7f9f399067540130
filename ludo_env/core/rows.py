"""Rows of arrays as kernels take them: borrowed, so that nothing is counted.

Numba counts the references to each view it makes, two atomic operations that cost as much as half
a decision. A borrowed row is valid as long as its array, which kernels get from their callers.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload


def row_of(array: Any, k: int) -> Any:
    """Row ``k`` of a C-contiguous array, from 0 on, as a view; None of None."""
    return None if array is None else array[k]


@intrinsic
def _borrowed(typing_context, array, k):
    if array.layout != "C":
        raise TypingError("row_of takes C-contiguous arrays")
    row_type = types.Array(array.dtype, array.ndim - 1, "C")

    def emit(context, builder, signature, arguments):
        whole = context.make_array(array)(context, builder, value=arguments[0])
        row = context.make_array(row_type)(context, builder)
        shape = cgutils.unpack_tuple(builder, whole.shape)[1:]
        strides = cgutils.unpack_tuple(builder, whole.strides)
        data = cgutils.pointer_add(
            builder, whole.data, builder.mul(strides[0], arguments[1]), whole.data.type
        )
        size = context.get_constant(types.intp, 1)
        for length in shape:
            size = builder.mul(size, length)
        row.data = data
        row.shape = cgutils.pack_array(builder, shape)
        row.strides = cgutils.pack_array(builder, strides[1:])
        row.itemsize = whole.itemsize
        row.nitems = size
        return row._getvalue()

    return row_type(array, types.int64), emit


@overload(row_of)
def _compiled_row_of(array, k):
    if isinstance(array, types.NoneType):
        return lambda array, k: None
    return lambda array, k: _borrowed(array, k)


def block_of(array: Any, first: int, last: int) -> Any:
    """Rows ``first`` … ``last`` − 1 of a C-contiguous array as a view, as far as there are so many.

    ``first`` is from 0 to the number of rows; None of None.
    """
    return None if array is None else array[first:last]


@intrinsic
def _borrowed_block(typing_context, array, first, last):
    if array.layout != "C":
        raise TypingError("block_of takes C-contiguous arrays")

    def emit(context, builder, signature, arguments):
        whole = context.make_array(array)(context, builder, value=arguments[0])
        block = context.make_array(array)(context, builder)
        strides = cgutils.unpack_tuple(builder, whole.strides)
        inner = cgutils.unpack_tuple(builder, whole.shape)[1:]
        rows = builder.sub(arguments[2], arguments[1])
        size = rows
        for length in inner:
            size = builder.mul(size, length)
        block.data = cgutils.pointer_add(
            builder, whole.data, builder.mul(strides[0], arguments[1]), whole.data.type
        )
        block.shape = cgutils.pack_array(builder, [rows, *inner])
        block.strides = whole.strides
        block.itemsize = whole.itemsize
        block.nitems = size
        return block._getvalue()

    return array(array, types.int64, types.int64), emit


@overload(block_of)
def _compiled_block_of(array, first, last):
    if isinstance(array, types.NoneType):
        return lambda array, first, last: None
    return lambda array, first, last: _borrowed_block(array, first, min(last, len(array)))
