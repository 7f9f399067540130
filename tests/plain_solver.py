"""What a turn is worth, slowly and plainly, by the tests' own reference game.

It knows no tables and no boards: positions are tuples of progresses, the roller's pawns first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from random import Random
from typing import NamedTuple

from reference import ReferenceGame

from ludo_env import Rules

Pawns = tuple[int, ...]
Pair = tuple[Pawns, Pawns]


class Outcome(NamedTuple):
    """What a move leads to: the mover's and the other's pawns, and whether it wins."""

    own: Pawns
    other: Pawns
    won: bool


class _RollsOnError(Exception):
    """The game asks for another roll: the given die has no move."""


@cache
def outcomes(rules: Rules, own: Pawns, other: Pawns, die: int) -> dict[int, Outcome]:
    """What each legal action leads to; none where the die cannot be played."""

    def refuse(_: int) -> int:
        raise _RollsOnError

    try:
        game = ReferenceGame(rules, refuse, pawns=[own, other], player=0, die=die)
    except _RollsOnError:
        return {}
    found = {}
    for action in game.legal_actions():
        pawns, _, winner = game.afterstate(action)
        found[action] = Outcome(pawns[0], pawns[1], winner == 0)
    return found


@cache
def tries(rules: Rules, own: Pawns, other: Pawns) -> int:
    """Rolls that the roller has (R9)."""
    dice = Random(1)
    game = ReferenceGame(rules, lambda n: dice.randint(1, 6), pawns=[own, other])
    return 3 if game._has_three_tries(0) else 1


def turn_value(
    rules: Rules,
    own: Pawns,
    other: Pawns,
    rolls: Callable[[Pawns, Pawns], float],
    choose: Callable[[Pawns, Pawns, int, dict[int, float]], float],
) -> float:
    """The roller's chance to win, from the chances after the turn's moves.

    Args:
        rules: The rules.
        own: The roller's pawns.
        other: The other's.
        rolls: The chance of who is about to roll, by the roller's pawns and the other's.
        choose: What the roller gets of the chances after its legal actions.
    """
    worth: dict[int, float | None] = {}
    for die in range(1, 7):
        after = {}
        for action, result in outcomes(rules, own, other, die).items():
            if result.won:
                after[action] = 1.0
            elif die == 6:
                after[action] = rolls(result.own, result.other)
            else:
                after[action] = 1 - rolls(result.other, result.own)
        worth[die] = choose(own, other, die, after) if after else None
    chance = 1 - rolls(other, own)
    for _ in range(tries(rules, own, other)):
        chance = sum(chance if w is None else w for w in worth.values()) / 6
    return chance


def all_pawns(rules: Rules) -> Iterator[Pawns]:
    """All that one player's pawns can be, most advanced first."""
    for pawns in combinations_with_replacement(range(rules.last_progress, -1, -1), rules.num_pawns):
        out = [p for p in pawns if p > 0]
        if len(set(out)) == len(out):
            yield pawns


def possible(own: Pawns, other: Pawns) -> bool:
    """Whether no two pawns share a square, and nobody has won."""
    squares = {(p - 1) % 40 for p in own if 1 <= p <= 40}
    shared = any((p + 19) % 40 in squares for p in other if 1 <= p <= 40)
    return not shared and min(own) <= 40 and min(other) <= 40


def solve_plainly(rules: Rules, pairs: Iterable[Pair], sweeps: int) -> dict[Pair, float]:
    """Perfect play's values by plain value iteration."""
    values = dict.fromkeys(pairs, 0.5)

    def best(_own: Pawns, _other: Pawns, _die: int, after: dict[int, float]) -> float:
        return max(after.values())

    for _ in range(sweeps):
        for own, other in sorted(values, key=lambda pair: -sum(pair[0] + pair[1])):
            values[own, other] = turn_value(
                rules, own, other, lambda mine, theirs: values[mine, theirs], best
            )
    return values
