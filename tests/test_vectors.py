"""Vector sums give the same bits as their plain Python twins."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from ludo_env.core import vectors


@numba.njit
def compiled_sum(table, start, rows, total):
    vectors.sum_rows(table, start, rows, total)


@numba.njit
def compiled_layer(inputs, weights, start, outputs):
    vectors.add_layer(inputs, weights, start, outputs)


def numbers(generator: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of very different sizes, so that another order of adding shows."""
    scale = 10.0 ** generator.integers(-4, 4, shape)
    return (generator.normal(size=shape) * scale).astype(np.float32)


@pytest.mark.parametrize("columns", [64, 128, 320])
@pytest.mark.parametrize("count", [0, 1, 5, 40])
def test_sums_of_rows_are_added_in_turn(columns, count):
    generator = np.random.default_rng(columns + count)
    table, start = numbers(generator, 50, columns), numbers(generator, columns)
    rows = generator.integers(0, 50, count)
    given, expected = np.full(columns, np.nan, np.float32), np.empty(columns, np.float32)
    compiled_sum(table, start, rows, given)
    vectors.sum_rows(table, start, rows, expected)
    assert given.tobytes() == expected.tobytes()
    exact = start.astype(np.float64) + table[rows].astype(np.float64).sum(axis=0)
    np.testing.assert_allclose(given, exact, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("rows", [4, 64, 256])
@pytest.mark.parametrize("columns", [16, 48])
def test_a_layer_adds_its_positive_inputs_in_a_fixed_order(rows, columns):
    generator = np.random.default_rng(rows + columns)
    inputs, weights = numbers(generator, rows), numbers(generator, rows, columns)
    start = numbers(generator, columns)
    given, expected = np.full(columns, np.nan, np.float32), np.empty(columns, np.float32)
    compiled_layer(inputs, weights, start, given)
    vectors.add_layer(inputs, weights, start, expected)
    assert given.tobytes() == expected.tobytes()
    exact = start + np.maximum(inputs, 0).astype(np.float64) @ weights.astype(np.float64)
    np.testing.assert_allclose(given, exact, rtol=1e-4, atol=1.0)


def test_a_negative_input_counts_as_nothing():
    outputs = np.empty(16, np.float32)
    compiled_layer(
        np.full(4, -1, np.float32), np.ones((4, 16), np.float32), np.zeros(16, np.float32), outputs
    )
    assert not outputs.any()
