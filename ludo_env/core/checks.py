"""Checks of arguments: a `ValueError` names the argument, what came and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.dice import MAX_SEED, fresh_seed
from ludo_env.core.loops import within
from ludo_env.core.rules import is_integer

Ints = NDArray[np.int64]


def positive(name: str, value: Any) -> int:
    """An integer from 1 to 2**62 − 1."""
    return _between(name, value, 1)


def natural(name: str, value: Any) -> int:
    """An integer from 0 to 2**62 − 1."""
    return _between(name, value, 0)


def episode_number(value: Any) -> int:
    """An integer from 0 to 2**58 − 1, what a game's row can hold."""
    return _between("episode", value, 0, 58)


def _between(name: str, value: Any, low: int, bits: int = 62) -> int:
    if not is_integer(value) or not low <= int(value) < 1 << bits:
        raise ValueError(f"{name} must be an integer from {low} to 2**{bits} - 1, got {value!r}")
    return int(value)


def seed_or_fresh(seed: Any) -> int:
    """A seed, from the operating system where none is given."""
    return fresh_seed() if seed is None else checked_seed(seed)


def checked_seed(seed: Any) -> int:
    """An integer from 0 to 2**63 − 1."""
    if not is_integer(seed) or not 0 <= int(seed) <= MAX_SEED:
        raise ValueError(f"seed must be an integer from 0 to 2**63 - 1, got {seed!r}")
    return int(seed)


def checked_seeds(seeds: Iterable[Any]) -> Ints:
    """Integers from 0 to 2**63 − 1, as int64."""
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.int64 and (seeds >= 0).all():
        return seeds
    return np.array([checked_seed(seed) for seed in seeds], dtype=np.int64)


def as_action(action: Any) -> int:
    """A single action from an integer of any kind, also a numpy array that holds just one.

    Raises:
        ValueError: The value is none.
    """
    if is_integer(action):
        return int(action)
    if isinstance(action, np.ndarray) and action.size == 1 and action.dtype.kind in "iu":
        return int(action.item())
    raise ValueError(f"action must be an integer 0 to 3, got {action!r}")


def integers(name: str, values: Any, length: int) -> Ints:
    """One integer for each of ``length`` rows, as int64."""
    array = _array(values)
    if length == 0 and array.shape == (0,):
        return np.zeros(0, dtype=np.int64)
    if array.shape != (length,) or array.dtype.kind not in "iu":
        got = f"{array.dtype} of shape {array.shape}"
        raise ValueError(f"{name} must be integers of shape ({length},), got {got}")
    if array.dtype == np.uint64 and array.max() > MAX_SEED:
        raise ValueError(f"{name} must be integers below 2**63, got {array.max()}")
    return array.astype(np.int64, copy=False)


def row_indices(rows: Any, num_rows: int) -> Ints:
    """Row numbers from a list, an array of them or a mask (B,)."""
    array = rows if type(rows) is np.ndarray else _array(rows)
    if array.dtype == np.bool_ and array.shape == (num_rows,):
        return np.flatnonzero(array)
    if array.shape == (0,):
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"rows must be row numbers or a mask of shape ({num_rows},), got {rows!r}")
    index = array.astype(np.int64, copy=False)
    if not within(index, num_rows):
        raise ValueError(f"rows must be numbers from 0 to {num_rows - 1}, got {rows!r}")
    return index


def buffer(
    name: str, out: Any, shape: tuple[int, ...], dtype: type, *read: NDArray[Any] | None
) -> NDArray[Any]:
    """The caller's array to write into, or a new one where it gave none.

    Args:
        name: The argument's name.
        out: The caller's array, or None.
        shape: The shape that is needed.
        dtype: The dtype that is needed.
        *read: Arrays that are read while it is written, and must not lie in the same memory.

    Raises:
        ValueError: The array has another shape or dtype, is not contiguous and writeable, or
            overlaps what is read.
    """
    if out is None:
        return np.empty(shape, dtype=dtype)
    wanted = f"a contiguous, writeable {np.dtype(dtype).name} array of shape {shape}"
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        raise ValueError(f"{name} must be {wanted}, got {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype or not (out.flags.carray and out.flags.writeable):
        kind = "contiguous" if out.flags.carray else "not contiguous or not writeable"
        raise ValueError(f"{name} must be {wanted}, got {out.dtype} of shape {out.shape}, {kind}")
    if any(np.may_share_memory(out, array) for array in read if array is not None):
        raise ValueError(f"{name} must be apart from the other arguments, got overlapping memory")
    return out


def _array(values: Any) -> NDArray[Any]:
    """An array, of objects where the values make no other."""
    try:
        return np.asarray(values)
    except ValueError:  # lists of different lengths
        return np.asarray(None)


def dice_script(dice: Any) -> NDArray[np.int8]:
    """Scripted rolls as int8 (S,); empty for None."""
    if dice is None:
        return np.zeros(0, dtype=np.int8)
    try:
        rolls = list(dice)
    except TypeError:
        rolls = [dice]
    if not all(is_integer(roll) and 1 <= int(roll) <= 6 for roll in rolls) or np.ndim(dice) == 0:
        raise ValueError(f"dice must be a sequence of integers from 1 to 6, got {dice!r}")
    return np.array(rolls, dtype=np.int8)
