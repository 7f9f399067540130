"""The compiled integer operations equal their Python twins, in whatever code they are compiled."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludo_env.core import bits, dice
from ludo_env.core.rows import block_of, row_of

INTEGERS = st.integers(-(2**63), 2**63 - 1)
BOARDS = st.integers(0, 2**62)


@pytest.fixture(autouse=True, scope="module")
def compile_first() -> None:
    """Compile outside of Hypothesis, which limits the time of an example."""
    product(1, 1), is_high(1, 1), counted(1)
    write_8(np.zeros(8, np.int8), 0, 1), write_48(np.zeros(48, np.int8), 0, 1)


@numba.njit
def product(x, y):
    return bits.wrapping_mul(x, y)


@numba.njit
def is_high(key, counter):
    return dice.roll(key, counter) > 3


@numba.njit
def counted(x):
    return bits.popcount(x), bits.highest_bit(x)


@numba.njit
def write_8(target, start, number):
    bits.write_bits(target, start, number, 8)


@numba.njit
def write_48(target, start, number):
    bits.write_bits(target, start, number, 48)


@numba.njit
def set_first(array, k):
    row_of(array, k)[0] = 1
    return row_of(None, k)


@given(INTEGERS, INTEGERS)
def test_products_wrap_around(x: int, y: int) -> None:
    assert product(x, y) == bits.wrapping_mul(x, y)
    assert np.int64(product(x, y)) == np.multiply(np.int64(x), np.int64(y))


@given(INTEGERS)
def test_the_compiler_may_not_conclude_a_rolls_size_from_the_signs_of_its_factors(key: int) -> None:
    assert is_high(key, 0) == (dice.roll(key, 0) > 3)


@given(BOARDS)
def test_set_bits_are_counted_and_the_highest_found(x: int) -> None:
    assert counted(x) == (bits.popcount(x), bits.highest_bit(x))
    assert bits.highest_bit(x) == (2 ** (x.bit_length() - 1) if x else 0)


@given(BOARDS, st.integers(0, 30))
def test_bits_are_written_in_order_and_nothing_beside_them(number: int, start: int) -> None:
    for write, count in ((write_8, 8), (write_48, 48)):
        compiled, plain = np.full(100, 7, np.int8), np.full(100, 7, np.int8)
        write(compiled, start, number)
        bits.write_bits(plain, start, number, count)
        assert compiled.tolist() == plain.tolist()
        assert plain[start : start + count].tolist() == [number >> i & 1 for i in range(count)]
        assert set(np.delete(plain, range(start, start + count))) == {7}


@pytest.mark.parametrize("shape", [(5, 3), (5, 3, 2)])
def test_a_borrowed_row_is_a_view_of_its_array(shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, dtype=np.int64)
    assert set_first(array, 3) is None
    assert array[3, 0].all()
    assert array.sum() == array[3, 0].sum()
    assert np.shares_memory(row_of(array, 3), array)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize(("first", "last"), [(0, 3), (2, 5), (3, 9), (5, 5), (5, 64)])
def test_a_block_ends_where_its_array_does(ndim, first, last):
    array = np.arange(5 * 2 ** (ndim - 1)).reshape((5,) + (2,) * (ndim - 1))

    @numba.njit
    def shape_and_sum(array, first, last):
        block = block_of(array, first, last)
        return block.shape, block.sum()

    expected = array[first:last]
    assert shape_and_sum(array, first, last) == (expected.shape, expected.sum())
    assert (block_of(array, first, last) == expected).all()
