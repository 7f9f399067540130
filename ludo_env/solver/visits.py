"""Which decisions perfect self-play meets, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludo_env.agents.exact import ExactAgent
from ludo_env.core import plans
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.solution import Floats, Solution
from ludo_env.solver.duel import Ground, threads_or_all
from ludo_env.solver.policies import CHUNK, play_of

_LEFT = 1e-12  # of a game, at which nothing more is worth playing on


@dataclass(frozen=True)
class Sample:
    """The games that visits were counted in.

    Attributes:
        games: Number of games.
        place: int64 (s,), each decision with a choice, in the order played: its place among the
            visits.
        game: int64 (s,), the game it was met in.
        decisions: int64 (games,), each game's decisions, forced ones included.
    """

    games: int
    place: Ints
    game: Ints
    decisions: Ints


@dataclass(frozen=True)
class Visits:
    """Decisions with a choice.

    Attributes:
        own: int64 (k,), the number of the mover's board.
        other: int64 (k,), that of the other's.
        die: int64 (k,), 1 … 6.
        often: float64 (k,), visits in a game.
        decisions: Decisions in a game, forced ones included.
        sample: The games in which they were counted; None where they were computed.
    """

    own: Ints
    other: Ints
    die: Ints
    often: Floats
    decisions: float
    sample: Sample | None


def computed_visits(ground: Ground, solution: Solution) -> Visits:
    """The expected visits in a game of perfect self-play."""
    plan = play_of(ExactAgent(solution), ground, threads_or_all(None)).plan
    rolling = _rolling(ground, plan)
    own, other = np.nonzero(rolling)
    per_die = ground.tables.weight / ground.tables.total[:, None]
    decisions = float((rolling.sum(axis=1) * per_die.sum(axis=1)).sum())
    found, forced = [], np.zeros_like(plan)
    for first in range(0, len(own), CHUNK):
        i, j = own[first : first + CHUNK], other[first : first + CHUNK]
        open_dice = np.zeros((len(i), 6), dtype=np.bool_)
        plans.write_forced(i, j, ground.tables.bits, open_dice, forced, ground.rules.compiled)
        pair, die = np.nonzero(open_dice)
        i, j = i[pair], j[pair]
        found.append((i, j, die + 1, rolling[i, j] * per_die[i, die]))
    own, other, die, often = map(np.concatenate, zip(*found, strict=True))
    return Visits(own, other, die, often, decisions, None)


def _rolling(ground: Ground, plan: Any) -> Floats:
    """How often in a game a player comes to roll in each position, float64 (N, N)."""
    rolling = np.zeros((len(ground), len(ground)))
    arrivals = np.zeros_like(rolling)
    arrivals[ground.start, ground.start] = 1
    while arrivals.sum() > _LEFT:
        for level in ground.levels:
            groups = ground.groups(level)
            plans.push_visits(plan, rolling, arrivals, level, groups, ground.tables)
    return rolling


def counted_visits(ground: Ground, solution: Solution, games: int, seed: int) -> Visits:
    """The visits in games that perfect play plays against itself."""
    agent = ExactAgent(solution)
    batch = GameBatch(games, ground.rules, seed=seed)
    decisions = np.zeros(games, dtype=np.int64)
    met, where = [], []
    rows = np.arange(games)
    while len(rows):
        decisions[rows] += 1
        chosen = rows[batch.masks(rows).sum(axis=1) > 1]
        met.append(_key(ground, batch, chosen))
        where.append(chosen)
        batch.play(rows, agent.act(batch, rows))
        rows = rows[~batch.finished[rows]]
    keys, place, number = np.unique(np.concatenate(met), return_inverse=True, return_counts=True)
    pair, die = np.divmod(keys, 6)
    own, other = np.divmod(pair, len(ground))
    sample = Sample(games, place, np.concatenate(where), decisions)
    return Visits(own, other, die + 1, number / games, float(decisions.mean()), sample)


def _key(ground: Ground, batch: GameBatch, rows: Ints) -> Ints:
    """A number for each row's decision, whoever makes it."""
    boards, mover = batch.boards(rows), batch.players[rows].astype(np.int64)
    each = np.arange(len(rows))
    own = ground.boards.number(boards[each, mover])
    other = ground.boards.number(boards[each, 1 - mover])
    return (own * len(ground) + other) * 6 + batch.dice[rows] - 1
