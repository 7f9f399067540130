"""Speed beside OpenSpiel's cousin of this game, ``maedn`` (Mensch ärgere dich nicht).

Four random players on both sides, all measurements in one run, taken in turn. Prints a Markdown
table. To run it at the root of a clone:

    pip install open_spiel -e .
    python docs/compare_openspiel.py
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import textwrap
import time
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numpy as np
import pyspiel

from ludo_env import Game, GameBatch, Rules
from ludo_env.bench.tasks import Task
from ludo_env.machine import versions

PLAYERS, GAMES = 4, 1024
PASS = 0  # maedn's action after a roll without a legal move

# As plain integers: to compare with the enum would slow OpenSpiel's side.
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)

# As near to maedn as the options go.
RULES = Rules(num_players=PLAYERS, mandatory_capture=False, home_jumps=True)


class Row(Task):
    """A row of the table."""

    name: str


class PlayMaedn(Row):
    """OpenSpiel from Python: a game at a time."""

    def __init__(self, observes: bool = False) -> None:
        self.name = "OpenSpiel maedn, Python" + (", with observation_tensor()" if observes else "")
        self.observes = observes
        self.random = random.Random(1)
        self.game = _maedn()

    def chunk(self) -> int:
        """See `Task.chunk`."""
        state, draw, choice = self.game.new_initial_state(), self.random.random, self.random.choice
        moves = 0
        while (player := state.current_player()) != TERMINAL:
            if player == CHANCE:
                # All faces are alike; to ask for chance_outcomes() first would only cost time.
                state.apply_action(int(draw() * 6))
                continue
            actions = state.legal_actions()
            if actions[0] != PASS:
                moves += 1
                if self.observes:
                    state.observation_tensor()
            state.apply_action(choice(actions))
        return moves


class PlayMaednNatively(Row):
    """OpenSpiel in its C++: a whole game in a call."""

    name = "OpenSpiel maedn, C++ (evaluate_bots)"

    def __init__(self) -> None:
        self.game = _maedn()
        self.bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(PLAYERS)]
        self.games = self.moves = self.passes = self.rolls = 0

    def chunk(self) -> int:
        """See `Task.chunk`."""
        return self._count(self._play())

    def rate(self, seconds: float) -> float:
        """See `Task.rate`; the time to count a game's moves does not count."""
        moves, spent = 0, 0.0
        while spent < seconds:
            began = time.perf_counter()
            state = self._play()
            spent += time.perf_counter() - began
            moves += self._count(state)
        return moves / spent

    def _play(self) -> Any:
        state = self.game.new_initial_state()
        pyspiel.evaluate_bots(state, self.bots, self.games)
        self.games += 1
        return state

    def _count(self, state: Any) -> int:
        steps = [(step.player, step.action) for step in state.full_history()]
        rolls = sum(player == CHANCE for player, _ in steps)
        passes = sum(player >= 0 and action == PASS for player, action in steps)
        moves = len(steps) - rolls - passes
        self.rolls += rolls
        self.passes += passes
        self.moves += moves
        self.also = {
            "rolls": self.rolls / self.moves,
            "passes": self.passes / self.moves,
            "games": self.games / self.moves,
        }
        return moves


class PlayGame(Row):
    """`Game` from Python: a game at a time.

    Args:
        asks: Whether to ask for each mask, rather than take the one that ``push`` returns.
        observes: Whether to look at each decision's observation.
    """

    def __init__(self, asks: bool = True, observes: bool = False) -> None:
        calls = "action_mask(), push()" if asks else "push() and the mask it returns"
        self.name = f"ludo_env.Game, Python, {calls}" + (", observation()" if observes else "")
        self.asks, self.observes = asks, observes
        self.random = random.Random(1)
        self.episode = 0

    def chunk(self) -> int:
        """See `Task.chunk`."""
        game, choice = Game(RULES, seed=1, episode=self.episode), self.random.choice
        self.episode += 1
        mask, moves = game.action_mask(), 0
        while actions := mask.nonzero()[0].tolist():
            if self.observes:
                game.observation()
            pushed = game.push(choice(actions))
            mask = game.action_mask() if self.asks else pushed
            moves += 1
        return moves


class StepBatch(Row):
    """`GameBatch` stepped from Python."""

    def __init__(self, observes: bool = False) -> None:
        calls = "masks(), observations(), step()" if observes else "masks(), step()"
        self.name = f"ludo_env.GameBatch, {GAMES:,} games, {calls}"
        self.observes = observes
        self.random = np.random.default_rng(1)
        self.batch = GameBatch(GAMES, RULES, seed=1)
        self.ended = 0  # rows whose next step begins a game instead of playing a move

    def chunk(self) -> int:
        """See `Task.chunk`."""
        moves = 0
        for _ in range(20):
            masks = self.batch.masks()
            if self.observes:
                self.batch.observations()
            draws = self.random.random(masks.shape, dtype=np.float32)
            moves += GAMES - self.ended
            # Draws are below 1, so that a legal action's difference is above an illegal one's.
            ended = self.batch.step((masks - draws).argmax(axis=1))
            self.ended = int(np.count_nonzero(ended))
        return moves


class Rollout(Row):
    """`GameBatch.rollout`: no Python between moves."""

    name = f"ludo_env.GameBatch.rollout, {GAMES:,} games, 1 thread"

    def __init__(self) -> None:
        self.batch = GameBatch(GAMES, RULES, seed=1)

    def chunk(self) -> int:
        """See `Task.chunk`."""
        stats = self.batch.rollout(1000)
        self.also = {
            "rolls": stats.rolls / stats.decisions,
            "games": stats.finished / stats.decisions,
        }
        return stats.decisions


def _maedn() -> Any:
    return pyspiel.load_game("maedn", {"players": PLAYERS, "twoPlayersOpposite": True})


def measure(rows: Sequence[Row], repeats: int, seconds: float) -> list[list[float]]:
    """Each row's rates, measured in turn: the first's, the second's, …, the first's again."""
    for row in rows:
        row.warm_up()
    rounds = []
    for number in range(repeats):
        print(f"round {number + 1} of {repeats} …", file=sys.stderr)
        rounds.append([row.rate(seconds) for row in rows])
    return [list(rates) for rates in zip(*rounds, strict=True)]


def table(names: Sequence[str], rates: Sequence[Sequence[float]]) -> str:
    """Medians and ranges, in Markdown."""
    lines = ["| four random players | moves/s | range |", "| --- | ---: | ---: |"]
    for name, each in zip(names, rates, strict=True):
        middle, low, high = map(_rounded, (statistics.median(each), min(each), max(each)))
        lines.append(f"| {name} | {middle} | {low} – {high} |")
    return "\n".join(lines)


def _rounded(rate: float) -> str:
    return f"{float(f'{rate:.3g}'):,.0f}"


def footnote(theirs: Row, ours: Row, repeats: int, seconds: float) -> str:
    """What counts as a move, how the games differ, and what it was measured on."""
    machine = {**versions(), "open_spiel": metadata.version("open_spiel")}
    text = f"""Medians and ranges of {repeats} × {seconds:g} s for each row, rows taken in turn. A
        move is a pawn's move with the decision before it. Dice do not count, nor do the passes that
        maedn makes a player's action where a roll leaves no legal move ({theirs.also["passes"]:.2f}
        for each move); ludo_env plays through such rolls. Rules of ludo_env: no mandatory capture,
        home jumps, as in maedn; what is left is that ludo_env gives three tries for a 6 to a player
        with no pawn to move (R9), where maedn gives one roll, and no further roll after a 6 that
        cannot be played (R8), where maedn gives one. A move takes {theirs.also["rolls"]:.2f} rolls
        in maedn and {ours.also["rolls"]:.2f} in ludo_env, a game {1 / theirs.also["games"]:.0f} and
        {1 / ours.also["games"]:.0f} moves. In OpenSpiel's Python rows the die is random.random()'s,
        without chance_outcomes(), and passes are not observed. Measured on:"""
    found = ", ".join(f"{name} {value}" for name, value in machine.items())
    return textwrap.fill(f"{' '.join(text.split())} {found}.", width=100)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="Speed beside OpenSpiel's maedn.")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each row")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of each measurement")
    options = parser.parse_args()
    theirs, ours = PlayMaednNatively(), Rollout()
    rows: list[Row] = [
        PlayMaedn(),
        PlayMaedn(observes=True),
        theirs,
        PlayGame(),
        PlayGame(asks=False),
        PlayGame(observes=True),
        StepBatch(),
        StepBatch(observes=True),
        ours,
    ]
    rates = measure(rows, options.repeats, options.seconds)
    print(table([row.name for row in rows], rates))
    print()
    print(footnote(theirs, ours, options.repeats, options.seconds))


if __name__ == "__main__":
    main()
