"""What a policy plays in every position, as a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.agents.base import Agent, ask, make_agent
from ludo_env.agents.exact import ExactAgent
from ludo_env.agents.scripted import Scripted
from ludo_env.core import plans
from ludo_env.core.batch import GameBatch
from ludo_env.core.checks import Ints
from ludo_env.core.observation import OBSERVATION_LENGTH
from ludo_env.core.results import Int8s
from ludo_env.core.rules import Rules
from ludo_env.core.scripted import RANDOM, policy_code
from ludo_env.core.sweep import PLANNED, UNIFORM
from ludo_env.core.threads import Threads
from ludo_env.solution import TIE, Solution
from ludo_env.solver.duel import Ground, Play, mirror

Progress = Callable[[float], None]

CHUNK = 16_384
"""Positions that a policy is asked about at once."""

MAX_ASKED_PAWNS = 2
"""With more pawns there are too many positions to ask about each."""

_MOVER = 0  # the seat that agents are asked in
_ASKED_AGAIN = 256  # positions of each chunk


class _Called:
    """A function of a batch and rows, as an agent."""

    def __init__(self, function: Callable[[GameBatch, Ints], Any]) -> None:
        self._function = function

    def act(self, batch: GameBatch, rows: Ints) -> Any:
        return self._function(batch, rows)

    def __repr__(self) -> str:
        return getattr(self._function, "__name__", repr(self._function))


def as_agent(policy: Any) -> Agent:
    """A policy as an agent: a spec, an agent, a `Solution`, or a function of a batch and rows.

    Raises:
        ValueError: It is none of these, or its spec cannot be read.
    """
    if isinstance(policy, Solution):
        return ExactAgent(policy)
    if callable(policy) and not isinstance(policy, type) and not hasattr(policy, "act"):
        return _Called(policy)
    return make_agent(policy, seed=0)


def require_cover(agent: Agent, rules: Rules) -> None:
    """Refuse an exact agent under rules that its solution does not cover.

    Raises:
        ValueError: The agent is one of those.
    """
    if isinstance(agent, ExactAgent):
        agent.require_cover(rules)


def require_plan(agent: Agent, rules: Rules) -> None:
    """Refuse an agent that would have to be asked about too many positions.

    Raises:
        ValueError: The agent is one of those.
    """
    known = isinstance(agent, Scripted | ExactAgent) or _evaluates(agent)
    if rules.num_pawns > MAX_ASKED_PAWNS and not known:
        raise ValueError(
            f"agent {agent!r} cannot be asked about the 10^9 positions of three pawns; use its "
            "sampled regret (solver.regret), or give it win_probabilities(observations)"
        )


def _evaluates(agent: Any) -> bool:
    return callable(getattr(agent, "win_probabilities", None))


def answers(agent: Agent, batch: GameBatch) -> Ints:
    """An agent's legal actions in all games of a batch, int64 (k,).

    Raises:
        ValueError: The agent fails, or answers with anything but legal actions.
    """
    rows = np.arange(len(batch))
    try:
        actions = ask(agent, batch, rows)
    except Exception as error:
        what = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"agent {agent!r} failed: {what}") from error
    legal = batch.legal(rows, actions)
    if not legal.all():
        bad = int(np.argmin(legal))
        raise ValueError(f"agent {agent!r} failed: {batch.illegal(bad, actions[bad])}")
    return actions


def play_of(
    agent: Agent, ground: Ground, num_threads: int, progress: Progress | None = None
) -> Play:
    """How an agent plays in every position.

    Scripted agents, solutions, and agents with ``win_probabilities(observations)`` are tabulated by
    compiled code: the latter are taken to play what leads to the best of these. Others are asked
    for an action in every position with a choice, and about some of them again in another game and
    the other seat.

    Args:
        agent: The agent.
        ground: What is played.
        num_threads: Threads to tabulate with.
        progress: Called with the share of the work that is done.

    Raises:
        ValueError: The agent draws at random (the agent ``random`` may), plays differently in
            different seats, answers with anything but legal actions, solves other rules, or would
            have to be asked about too many positions.
    """
    require_cover(agent, ground.rules)
    require_plan(agent, ground.rules)
    if isinstance(agent, Scripted) and policy_code(agent.policy) == RANDOM:
        return Play(UNIFORM, np.zeros((1, 1), dtype=np.uint16))
    plan = np.zeros((len(ground), len(ground)), dtype=np.uint16)
    threads = Threads(num_threads)
    if isinstance(agent, Scripted):
        _plan_script(agent.policy, ground, threads, plan)
    elif isinstance(agent, ExactAgent):
        _plan_greedily(agent.solution.table, ground, threads, plan)
    elif _evaluates(agent):
        _plan_greedily(_evaluated(agent, ground, progress), ground, threads, plan)
    else:
        _plan_by_asking(agent, ground, plan, progress)
    return Play(PLANNED, plan)


def _plan_script(policy: str, ground: Ground, threads: Threads, plan: NDArray[np.uint16]) -> None:
    bits, rules, code = ground.tables.bits, ground.rules.compiled, policy_code(policy)

    def write(part: slice) -> None:
        boards = np.arange(len(ground))[part]
        plans.write_scripted_plan(code, boards, bits, plan, rules)

    threads.run(write, len(ground), 50.0 * len(ground))


def _plan_greedily(
    rolls: NDArray[Any], ground: Ground, threads: Threads, plan: NDArray[np.uint16]
) -> None:
    """Plan the moves with the best chance, by a table of the chances of who is about to roll."""
    scale, tables = ground.scale, ground.tables
    waits = np.empty((len(ground), len(ground)), dtype=scale.dtype)
    mirror(rolls, scale.one, waits)
    slack = int(TIE * scale.one)

    def write(part: slice) -> None:
        boards = np.arange(len(ground))[part]
        plans.write_greedy_plan(rolls, waits, slack, boards, tables, plan, ground.rules.compiled)

    threads.run(write, len(ground), 100.0 * len(ground))


def _evaluated(agent: Any, ground: Ground, progress: Progress | None) -> NDArray[Any]:
    """A table of an agent's own estimates of the chances of who is about to roll."""
    one = ground.scale.one
    table = ground.filled(0)
    size, last = len(ground), len(ground) - 1
    for own, other in _pair_chunks(last * size, size, progress):
        chances = _chances(agent, roller_views(ground, own, other))
        again = _spread(len(own))
        same = _chances(agent, roller_views(ground, own[again], other[again]))
        if not np.allclose(same, chances[again], atol=1e-5):
            raise ValueError(f"agent {agent!r} must evaluate a position always alike")
        table[own, other] = np.rint(chances * one).astype(table.dtype)
    table[:last, last] = 0
    return table


def _chances(agent: Any, views: Int8s) -> NDArray[np.float64]:
    answer = agent.win_probabilities(views)
    try:
        chances = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        chances = np.asarray(np.nan)
    if chances.shape != (len(views),) or not ((chances >= 0) & (chances <= 1)).all():
        raise ValueError(
            f"agent {agent!r} must give {len(views)} win probabilities from 0 to 1 in a row, got "
            f"{answer!r}"
        )
    return chances


def _pair_chunks(number: int, size: int, progress: Progress | None) -> Iterator[tuple[Ints, Ints]]:
    """The first pairs of boards, some thousand at a time."""
    for first in range(0, number, CHUNK):
        last = min(first + CHUNK, number)
        own, other = np.divmod(np.arange(first, last), size)
        yield own, other
        if progress is not None:
            progress(last / number)


def _spread(number: int) -> Ints:
    """Some places out of so many, from the last to the first."""
    return np.arange(number)[:: -max(1, number // _ASKED_AGAIN)]


def roller_views(ground: Ground, own: Ints, other: Ints) -> Int8s:
    """What the player about to roll sees, int8 (k, D), by both boards' numbers (k,)."""
    bits = ground.tables.bits
    batch = GameBatch.from_boards(
        np.stack([bits[own], bits[other]], axis=1), _MOVER, 0, ground.rules
    )
    views = np.empty((len(own), OBSERVATION_LENGTH), dtype=np.int8)
    return batch.observations(np.full(len(own), _MOVER), out=views)


def _plan_by_asking(
    agent: Agent, ground: Ground, plan: NDArray[np.uint16], progress: Progress | None
) -> None:
    size, rules = len(ground), ground.rules.compiled
    bits = ground.tables.bits
    for own, other in _pair_chunks(size * size, size, progress):
        open_dice = np.zeros((len(own), 6), dtype=np.bool_)
        plans.write_forced(own, other, bits, open_dice, plan, rules)
        pair, die = np.nonzero(open_dice)
        if not len(pair):
            continue
        own, other, dice = own[pair], other[pair], die + 1
        actions = answers(agent, standing(ground, own, other, dice))
        plans.note_actions(own, other, dice, actions, bits, plan, rules)
        again = _spread(len(own))
        _require_steady(agent, ground, own[again], other[again], dice[again], actions[again])


def standing(ground: Ground, own: Ints, other: Ints, dice: Ints, mover: int = _MOVER) -> GameBatch:
    """Games at decisions of one player, by both boards' numbers (k,) and the dice (k,)."""
    bits = ground.tables.bits
    boards = np.empty((len(own), 2), dtype=np.int64)
    boards[:, mover], boards[:, 1 - mover] = bits[own], bits[other]
    return GameBatch.from_boards(boards, mover, dice, ground.rules)


def _require_steady(
    agent: Agent, ground: Ground, own: Ints, other: Ints, dice: Ints, actions: Ints
) -> None:
    """Refuse an agent that plays otherwise when it is asked in another game, in the other seat."""
    batch = standing(ground, own, other, dice, mover=1 - _MOVER).copy(seed=1)
    differs = answers(agent, batch) != actions
    if differs.any():
        position = str(batch.position(int(differs.argmax())))
        raise ValueError(
            f"agent {agent!r} must play by the position alone, but asked in another game and the "
            f"other seat it plays differently at {position!r}"
        )
