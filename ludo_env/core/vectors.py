"""Sums over rows of float32, many columns at once, in an order that nothing changes.

Numba may not regroup floating-point sums, and what it makes of loops over them is slow; these two
keep their sums in vector registers. The undecorated functions are the twins for runs without JIT:
they add in the same order, so both give the same bits.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

SUM_COLUMNS = 64
"""`sum_rows` takes multiples of so many columns."""
LAYER_COLUMNS = 16
"""`add_layer` takes multiples of so many columns,"""
LAYER_ROWS = 4
"""and of so many rows."""


def sum_rows(table: np.ndarray, start: np.ndarray, rows: np.ndarray, total: np.ndarray) -> None:
    """Write ``start`` plus the table's rows, in turn, into ``total``; in place.

    Args:
        table: float32 (F, H), H a multiple of `SUM_COLUMNS`.
        start: float32 (H,).
        rows: int64 (k,), row numbers.
        total: float32 (H,).
    """
    total[:] = start
    for row in rows:
        total += table[row]


def add_layer(
    inputs: np.ndarray, weights: np.ndarray, start: np.ndarray, outputs: np.ndarray
) -> None:
    """Write ``start`` plus the positive inputs times the weights into ``outputs``; in place.

    Rows 0, 4, 8, … are summed apart from rows 1, 5, 9, … and so on, then both halves.

    Args:
        inputs: float32 (H,), H a multiple of `LAYER_ROWS`; negative ones count as 0.
        weights: float32 (H, K), K a multiple of `LAYER_COLUMNS`.
        start: float32 (K,).
        outputs: float32 (K,).
    """
    parts = np.zeros((LAYER_ROWS, len(start)), dtype=np.float32)
    for i in range(len(inputs)):
        parts[i % LAYER_ROWS] += np.maximum(inputs[i], np.float32(0)) * weights[i]
    outputs[:] = start + ((parts[0] + parts[1]) + (parts[2] + parts[3]))


_FLOAT = ir.FloatType()
_INDEX = ir.IntType(64)


class _Emitter:
    """Vector code on float32 arrays."""

    def __init__(self, context, builder, columns):
        self.context, self.builder = context, builder
        self.vector = ir.VectorType(_FLOAT, columns)

    def array(self, array_type, value):
        return self.context.make_array(array_type)(self.context, self.builder, value=value)

    def load(self, data, index):
        address = self.builder.gep(data, [index])
        loaded = self.builder.load(self.builder.bitcast(address, self.vector.as_pointer()))
        loaded.align = 4
        return loaded

    def store(self, vector, data, index):
        address = self.builder.gep(data, [index])
        stored = self.builder.store(vector, self.builder.bitcast(address, self.vector.as_pointer()))
        stored.align = 4

    def variable(self, value):
        """A variable of the innermost function; the optimiser keeps it in registers."""
        place = cgutils.alloca_once(self.builder, self.vector)
        self.builder.store(value, place)
        return place

    def zeros(self):
        return ir.Constant(self.vector, [0.0] * self.vector.count)

    def spread(self, scalar):
        """A vector of copies."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        places = ir.Constant(
            ir.VectorType(ir.IntType(32), self.vector.count), [0] * self.vector.count
        )
        return self.builder.shuffle_vector(first, undefined, places)


@intrinsic
def _sum_rows(typing_context, table, start, rows, count, total):
    def emit(context, builder, signature, arguments):
        code = _Emitter(context, builder, SUM_COLUMNS)
        table_, start_, rows_, total_ = (
            code.array(signature.args[i], arguments[i]) for i in (0, 1, 2, 4)
        )
        width = cgutils.unpack_tuple(builder, table_.shape)[1]
        step = ir.Constant(_INDEX, SUM_COLUMNS)
        with cgutils.for_range_slice(builder, ir.Constant(_INDEX, 0), width, step, _INDEX) as (
            column,
            _,
        ):
            sums = code.variable(code.load(start_.data, column))
            with cgutils.for_range(builder, arguments[3]) as loop:
                row = builder.load(builder.gep(rows_.data, [loop.index]))
                place = builder.add(builder.mul(row, width), column)
                added = builder.fadd(builder.load(sums), code.load(table_.data, place))
                builder.store(added, sums)
            code.store(builder.load(sums), total_.data, column)
        return context.get_dummy_value()

    return types.void(table, start, rows, count, total), emit


@intrinsic
def _add_layer(typing_context, inputs, weights, start, outputs):
    def emit(context, builder, signature, arguments):
        code = _Emitter(context, builder, LAYER_COLUMNS)
        inputs_, weights_, start_, outputs_ = (
            code.array(signature.args[i], arguments[i]) for i in range(4)
        )
        rows, width = cgutils.unpack_tuple(builder, weights_.shape)
        zero = ir.Constant(_INDEX, 0)
        step, stride = ir.Constant(_INDEX, LAYER_COLUMNS), ir.Constant(_INDEX, LAYER_ROWS)
        nothing = ir.Constant(_FLOAT, 0.0)
        with cgutils.for_range_slice(builder, zero, width, step, _INDEX) as (column, _):
            sums = [code.variable(code.zeros()) for _ in range(LAYER_ROWS)]
            with cgutils.for_range_slice(builder, zero, rows, stride, _INDEX) as (first, _):
                for part, own in enumerate(sums):
                    row = builder.add(first, ir.Constant(_INDEX, part))
                    given = builder.load(builder.gep(inputs_.data, [row]))
                    is_positive = builder.fcmp_ordered(">", given, nothing)
                    given = builder.select(is_positive, given, nothing)
                    place = builder.add(builder.mul(row, width), column)
                    product = builder.fmul(code.spread(given), code.load(weights_.data, place))
                    builder.store(builder.fadd(builder.load(own), product), own)
            a, b, c, d = (builder.load(own) for own in sums)
            total = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
            total = builder.fadd(code.load(start_.data, column), total)
            code.store(total, outputs_.data, column)
        return context.get_dummy_value()

    return types.void(inputs, weights, start, outputs), emit


@overload(sum_rows)
def _compiled_sum_rows(table, start, rows, total):
    return lambda table, start, rows, total: _sum_rows(table, start, rows, len(rows), total)


@overload(add_layer)
def _compiled_add_layer(inputs, weights, start, outputs):
    return lambda inputs, weights, start, outputs: _add_layer(inputs, weights, start, outputs)
