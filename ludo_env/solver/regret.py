"""How much an agent gives away, decision by decision, where perfect play would meet it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ludo_env.agents.base import Agent
from ludo_env.agents.scripted import Scripted
from ludo_env.core import checks
from ludo_env.core.checks import Ints
from ludo_env.core.rules import Rules
from ludo_env.core.scripted import RANDOM, policy_code
from ludo_env.solution import MAX_SOLVED_PAWNS, TIE, Floats, Solution, solvable
from ludo_env.solver.duel import Ground
from ludo_env.solver.policies import (
    CHUNK,
    Progress,
    answers,
    as_agent,
    require_cover,
    standing,
)
from ludo_env.solver.solving import Report, solve
from ludo_env.solver.visits import Visits, computed_visits, counted_visits

SAMPLED_GAMES = 20_000
_RARE = 1e-4  # visits in a game; what is met less often is no example


@dataclass(frozen=True)
class Blunder:
    """A decision in which an agent loses.

    Attributes:
        position: The position's text, the agent being player 0.
        played: The agent's action; None where it plays any legal one.
        best: The actions of perfect play.
        loss: The win probability it loses.
        visits: How often perfect self-play meets the position in a game.
    """

    position: str
    played: int | None
    best: tuple[int, ...]
    loss: float
    visits: float


@dataclass(frozen=True)
class Regret:
    """How far an agent is from perfect, over the decisions of perfect self-play.

    Attributes:
        mean: Win probability lost in a decision, forced ones included.
        mean_of_choices: The same, in a decision with more than one legal move.
        per_game: The same, in a game of both players together.
        decisions: Decisions in a game, forced ones included.
        choices: Those with more than one legal move.
        games: Games of perfect self-play in which decisions were met; None where the frequencies
            were computed.
        standard_error: Of ``mean``; 0 where the frequencies were computed, None where a single
            game was played.
        worst: The largest losses first, in positions that perfect self-play meets at least once in
            10,000 games.
    """

    mean: float
    mean_of_choices: float
    per_game: float
    decisions: float
    choices: float
    games: int | None
    standard_error: float | None
    worst: tuple[Blunder, ...]

    def __float__(self) -> float:
        return self.mean


def regret(
    policy: Any,
    rules: Rules,
    *,
    solution: Solution | None = None,
    games: int | None = None,
    seed: int | None = 0,
    examples: int = 10,
    report: Report | None = None,
    progress: Progress | None = None,
) -> Regret:
    """The win probability that a policy loses in a decision, against perfect choices.

    Decisions are weighted by how often perfect play against itself meets them (where moves are
    equally good it plays the first). With one or two pawns that is computed; with three, and where
    ``games`` are asked for, it is counted in games. A policy that draws at random is asked once for
    each position, but for ``random``, whose mean loss is taken.

    Args:
        policy: A spec, an agent, a `Solution`, or a function of a batch and rows.
        rules: Two players with up to three pawns each; any options.
        solution: The game's solution; None to solve it first.
        games: Games to play; None to compute frequencies, or for 20,000 with three pawns.
        seed: The seed of the games; None for a fresh one.
        examples: How many of the worst positions to list.
        report: Called after each sweep where the game is solved first.
        progress: Called with the share of the positions that have been asked about.

    Raises:
        ValueError: An argument is wrong, the solution is of other rules, or the agent answers with
            anything but legal actions.
    """
    agent, rules = as_agent(policy), solvable(rules)
    require_cover(agent, rules)
    if games is not None:
        games = checks.positive("games", games)
    elif rules.num_pawns == MAX_SOLVED_PAWNS:
        games = SAMPLED_GAMES
    seed, examples = checks.seed_or_fresh(seed), checks.natural("examples", examples)
    if solution is None:
        solution = solve(rules, report=report)
    if not isinstance(solution, Solution) or not solution.covers(rules):
        raise ValueError(f"solution must be a Solution that covers {rules}, got {solution!r}")
    ground = Ground(rules)
    if games is None:
        visits = computed_visits(ground, solution)
    else:
        visits = counted_visits(ground, solution, games, seed)
    played, losses, best = _asked(agent, ground, solution, visits, progress)
    return _summary(ground, visits, played, losses, best, examples)


def _asked(
    agent: Agent, ground: Ground, solution: Solution, visits: Visits, progress: Progress | None
) -> tuple[Ints, Floats, Floats]:
    """The agent's actions (k,), −1 for any; its losses (k,); and all actions' losses (k, 4)."""
    uniform = isinstance(agent, Scripted) and policy_code(agent.policy) == RANDOM
    played = np.full(len(visits.own), -1, dtype=np.int64)
    losses, all_losses = np.zeros(len(played)), np.zeros((len(played), 4))
    for first in range(0, len(played), CHUNK):
        part = slice(first, first + CHUNK)
        batch = standing(ground, visits.own[part], visits.other[part], visits.die[part])
        values = solution.action_values(batch)
        lost = np.where(values >= 0, values.max(axis=1, keepdims=True) - values, np.nan)
        all_losses[part] = lost
        if uniform:
            losses[part] = np.nanmean(lost, axis=1)
        else:
            played[part] = answers(agent, batch)
            losses[part] = np.take_along_axis(lost, played[part, None], axis=1)[:, 0]
        if progress is not None:
            progress(min(1.0, (first + CHUNK) / len(played)))
    return played, losses, all_losses


def _summary(
    ground: Ground, visits: Visits, played: Ints, losses: Floats, all_losses: Floats, examples: int
) -> Regret:
    per_game = float(visits.often @ losses)
    choices = float(visits.often.sum())
    mean = per_game / visits.decisions
    return Regret(
        mean=mean,
        mean_of_choices=per_game / choices if choices else 0.0,
        per_game=per_game,
        decisions=visits.decisions,
        choices=choices,
        games=None if visits.sample is None else visits.sample.games,
        standard_error=_standard_error(visits, losses, mean),
        worst=_worst(ground, visits, played, losses, all_losses, examples),
    )


def _standard_error(visits: Visits, losses: Floats, mean: float) -> float | None:
    """Of a ratio of two means over independent games."""
    sample = visits.sample
    if sample is None:
        return 0.0
    if sample.games < 2:
        return None
    lost = np.bincount(sample.game, weights=losses[sample.place], minlength=sample.games)
    off = lost - mean * sample.decisions
    return float(off.std(ddof=1) / np.sqrt(sample.games) / sample.decisions.mean())


def _worst(
    ground: Ground, visits: Visits, played: Ints, losses: Floats, all_losses: Floats, examples: int
) -> tuple[Blunder, ...]:
    lossy = np.flatnonzero((visits.often >= _RARE) & (losses > TIE))
    order = lossy[np.argsort(-losses[lossy], kind="stable")][:examples]
    if not len(order):
        return ()
    batch = standing(ground, visits.own[order], visits.other[order], visits.die[order])
    return tuple(
        Blunder(
            position=str(batch.position(row)),
            played=None if played[k] < 0 else int(played[k]),
            best=tuple(int(a) for a in np.flatnonzero(all_losses[k] <= TIE)),
            loss=float(losses[k]),
            visits=float(visits.often[k]),
        )
        for row, k in enumerate(order)
    )
