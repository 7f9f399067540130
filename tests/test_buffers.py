"""Arrays that the caller gives as ``out``: what fits is written into, all else is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_batch import LENGTH, MANY_RULES, SHORT, TWO, label, played, refused, with_an_ended_row

from ludo_env import GameBatch, IllegalMoveError, Rules

READS = ("masks", "observations", "places", "pawns")
JUNK = 77

reads = pytest.mark.parametrize("read", READS)


def reader(batch: GameBatch, read: str, rows: Any = None) -> Callable[..., Any]:
    """A read of some rows that takes ``out`` alone."""
    return lambda **out: getattr(batch, read)(rows=rows, **out)


def junk_like(array: np.ndarray) -> np.ndarray:
    return np.full_like(array, JUNK)


def assert_fills(call: Callable[..., Any]) -> None:
    """The call writes the same into a given array as into a fresh one, and returns it itself."""
    fresh = call()
    for out in (junk_like(fresh), np.zeros_like(fresh)):
        assert call(out=out) is out
        np.testing.assert_array_equal(out, fresh)


ROWS = [None, [5], [6, 0, 6, 3], np.arange(8) % 3 == 0, []]


# What fits


@pytest.mark.parametrize("rows", ROWS, ids=label)
@reads
def test_a_given_array_is_returned_itself_and_holds_what_a_fresh_one_would(read, rows):
    assert_fills(reader(with_an_ended_row(), read, rows))


@pytest.mark.parametrize("rules", MANY_RULES, ids=label)
@reads
def test_all_of_a_given_array_is_written_by_any_rules(read, rules):
    batch = GameBatch(6, rules, seed=2)
    batch.rollout(60)
    assert_fills(reader(batch, read))


@reads
def test_threads_write_into_a_given_array_too(read, many_threads):
    batch = GameBatch(7, seed=2, num_threads=3)
    batch.rollout(60)
    assert_fills(reader(batch, read, [3, 1, 6, 6]))
    assert_fills(reader(batch, read))
    assert many_threads[0] == 3


@pytest.mark.parametrize("rows", [None, [7, 2, 2, 5]], ids=label)
def test_observations_for_given_players_are_written_into_a_given_array(rows):
    batch = with_an_ended_row()
    players = np.array([0, 1, -1, 1, 0, 0, 1, -1])[: len(batch if rows is None else rows)]
    assert_fills(lambda **out: batch.observations(players, rows, **out))


@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_step_writes_which_rows_have_ended_into_a_given_array(num_threads, many_threads):
    batch, twin = (GameBatch(8, SHORT, seed=3, num_threads=num_threads) for _ in range(2))
    seen = set()
    for actions in played(twin, 200):
        out = ~twin.finished  # wrong in every row until it is written
        assert batch.step(actions, out=out) is out
        np.testing.assert_array_equal(out, twin.finished)
        seen.update(out.tolist())
    assert seen == {True, False}
    assert pickle.dumps(batch.copy()) == pickle.dumps(twin.copy())


@pytest.mark.parametrize("form", ["part of a larger array", "of another memory"])
@reads
def test_any_contiguous_array_will_do(read, form):
    call = reader(with_an_ended_row(), read)
    fresh = call()
    if form == "part of a larger array":
        whole = np.full((3, *fresh.shape), JUNK, dtype=np.int8)
        out = whole[1]
        assert call(out=out) is out
        assert (whole[[0, 2]] == JUNK).all()
    else:
        out = np.frombuffer(bytearray(fresh.size), dtype=np.int8).reshape(fresh.shape)
        assert call(out=out) is out
    np.testing.assert_array_equal(out, fresh)


# What does not fit


def locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


WRONG: dict[str, Callable[[np.ndarray], Any]] = {
    "wider": lambda fit: fit.astype(np.int64),
    "unsigned": lambda fit: fit.astype(np.uint8),
    "floats": lambda fit: fit.astype(np.float32),
    "objects": lambda fit: fit.astype(object),
    "a row more": lambda fit: np.concatenate([fit, fit[:1]]),
    "a row fewer": lambda fit: fit[1:].copy(),
    "an axis more": lambda fit: fit[None].copy(),
    "flat": lambda fit: np.append(fit.ravel(), fit.ravel()[:1]),
    "a scalar": lambda fit: fit.ravel()[0],
    "no dimension": lambda fit: np.array(fit.ravel()[0]),
    "every second row": lambda fit: np.repeat(fit, 2, axis=0)[::2],
    "backwards": lambda fit: fit[::-1],
    "one row for all": lambda fit: np.broadcast_to(fit[:1], fit.shape),
    "read-only": lambda fit: locked(fit.copy()),
    "masked": lambda fit: np.ma.array(fit.copy()),
    "a list": lambda fit: fit.tolist(),
    "bytes": lambda fit: bytearray(fit.tobytes()),
    "a view of memory": lambda fit: memoryview(fit),
    "True": lambda fit: True,
}
wrong = pytest.mark.parametrize("make", WRONG.values(), ids=WRONG.keys())


def assert_refused(call: Callable[..., Any], out: Any, batch: GameBatch, *names: str) -> None:
    """The call refuses ``out`` and leaves it and the batch as they are."""
    games, array = pickle.dumps(batch), pickle.dumps(np.asarray(out))
    refused(lambda: call(out=out), "out", "contiguous", "writeable", *names)
    assert pickle.dumps(np.asarray(out)) == array
    assert pickle.dumps(batch) == games


@wrong
@reads
def test_what_does_not_fit_is_refused_and_told_what_is_wanted(read, make):
    batch = with_an_ended_row()
    for rows in (None, [6, 0, 3]):
        call = reader(batch, read, rows)
        assert_refused(call, make(junk_like(call())), batch, "int8", str(call().shape))


@wrong
def test_a_step_plays_nothing_where_the_given_array_does_not_fit(make):
    batch = with_an_ended_row()
    actions = batch.masks().argmax(axis=1)
    out = make(np.arange(8) % 2 == 0)
    assert_refused(lambda **out: batch.step(actions, **out), out, batch, "bool", "(8,)")


@reads
def test_columns_first_are_refused(read):
    batch = GameBatch(5, seed=1)
    call = reader(batch, read)
    assert_refused(call, np.asfortranarray(call()), batch, "int8", str(call().shape))


def test_a_step_with_an_illegal_action_writes_nothing_into_a_given_array():
    batch = with_an_ended_row()
    out = ~batch.finished
    before, games = out.copy(), pickle.dumps(batch)
    with pytest.raises(IllegalMoveError):
        batch.step([3] * 8, out=out)
    np.testing.assert_array_equal(out, before)
    assert pickle.dumps(batch) == games


@reads
def test_a_read_of_wrong_rows_writes_nothing_into_a_given_array(read):
    batch = GameBatch(3, TWO, seed=1)
    out = junk_like(reader(batch, read)())
    refused(lambda: getattr(batch, read)(rows=[0, 1, 3], out=out), "rows")
    assert (out == JUNK).all()


# Whose arrays they are


def test_arrays_returned_without_out_never_change_when_others_are_written():
    batch = GameBatch(9, SHORT, seed=6)
    buffers = {read: getattr(batch, read)() for read in READS}
    finished = batch.finished
    kept = []
    for _ in range(60):
        batch.step(batch.masks().argmax(axis=1), out=finished)
        for read, out in buffers.items():
            fresh = getattr(batch, read)()
            kept.append((fresh, fresh.copy()))
            getattr(batch, read)(out=out)
        ended = batch.step(batch.masks().argmax(axis=1))
        kept.append((ended, ended.copy()))
    for array, was in kept:
        np.testing.assert_array_equal(array, was)


def test_a_given_array_stays_the_callers():
    batch = GameBatch(6, Rules(num_players=3), seed=6)
    outs = [reader(batch, read)(out=reader(batch, read)()) for read in READS]
    outs.append(batch.step(batch.masks().argmax(axis=1), out=batch.finished))
    before, copies = pickle.dumps(batch), [out.copy() for out in outs]
    for out in outs:
        out.fill(1)
    assert pickle.dumps(batch) == before
    for out, was in zip(outs, copies, strict=True):
        out[...] = was
    batch.step(batch.masks().argmax(axis=1))
    batch.rollout(50)
    for out, was in zip(outs, copies, strict=True):
        np.testing.assert_array_equal(out, was)


# What lies in the same memory


def test_an_array_that_overlaps_what_is_read_is_refused():
    batch = GameBatch(64, seed=1)
    before = pickle.dumps(batch)
    memory = np.zeros(64 * LENGTH, dtype=np.int8)
    numbers = memory[: 64 * 8].view(np.int64)
    numbers[:] = np.arange(64) % 4
    kept = memory.copy()
    overlapping = {
        "observations of players": lambda: batch.observations(
            numbers, out=memory.reshape(64, LENGTH)
        ),
        "observations of rows": lambda: batch.observations(
            rows=numbers, out=memory.reshape(64, LENGTH)
        ),
        "masks": lambda: batch.masks(numbers, out=memory[: 64 * 4].reshape(64, 4)),
        "places": lambda: batch.places(numbers, out=memory[: 64 * 4].reshape(64, 4)),
        "pawns": lambda: batch.pawns(numbers, out=memory[: 64 * 16].reshape(64, 4, 4)),
        "step": lambda: batch.step(numbers, out=memory[448:512].view(np.bool_)),
    }
    for call in overlapping.values():
        with pytest.raises(ValueError, match="out must be apart"):
            call()
    assert pickle.dumps(batch) == before
    np.testing.assert_array_equal(memory, kept)
