"""Many games, advanced together by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludo_env.core import checks, dice, loops, rollout
from ludo_env.core.careful_weights import WEIGHTS
from ludo_env.core.checks import Ints
from ludo_env.core.kernels import DIE_BITS, SEED, TURN
from ludo_env.core.position import Position, as_position, start_position
from ludo_env.core.reading import Games, IllegalMoveError
from ludo_env.core.results import Bools, Int8s, RolloutStats
from ludo_env.core.rules import Rules, as_rules
from ludo_env.core.scripted import CAREFUL, policy_code

__all__ = ["GameBatch", "IllegalMoveError"]


class GameBatch(Games):
    """Many games under the same rules, each always at a decision or at its end.

    All returned arrays are new and stay as they are, but those that the caller gave as ``out``.
    Copies and pickles keep the coming dice. A game takes 64 bytes. Different batches may be used by
    different Python threads at once; one batch by one thread at a time.

    Args:
        num_games: Number of rows B.
        rules: The rules of all games.
        seed: One int from 0 to 2**63 − 1 (row 0 gets it, the other rows seeds derived from it), one
            for each row, or None for fresh ones.
        num_threads: Threads that share the rows; results do not depend on it.

    Raises:
        ValueError: An argument is out of range or of the wrong type.
    """

    def __init__(
        self,
        num_games: int,
        rules: Rules = Rules(),
        *,
        seed: int | Sequence[int] | Ints | None = None,
        num_threads: int = 1,
    ) -> None:
        num_games = checks.positive("num_games", num_games)
        self._set_up(_spread(seed, num_games), rules, num_threads)
        self._start(None)

    def _set_up(self, seeds: Ints, rules: Rules, num_threads: int = 1) -> None:
        """Make the rows, each with its seed and nothing dealt."""
        super().__init__(len(seeds), as_rules(rules), num_threads)
        self._games[:, SEED] = seeds
        # Scripted rolls of the present games, int8 (B, S); None where no game has any.
        self._scripts: Int8s | None = None

    @classmethod
    def from_positions(
        cls,
        positions: Sequence[Position | str],
        rules: Rules = Rules(),
        seed: int | Sequence[int] | Ints | None = None,
        *,
        dice: Sequence[int] | None = None,
        num_threads: int = 1,
    ) -> GameBatch:
        """Games that go on from given positions, each played through to its first decision.

        Args:
            positions: One `Position` or text for each row.
            rules: The rules of all games.
            seed: As for the constructor.
            dice: Scripted rolls of every row: roll ``n`` is ``dice[n]`` while they last.
            num_threads: As for the constructor.

        Raises:
            ValueError: There is no position, one is impossible, or another argument is wrong.
        """
        if not isinstance(positions, list | tuple | np.ndarray) or not len(positions):
            raise ValueError(f"positions must be a non-empty sequence, got {positions!r}")
        batch = cls.__new__(cls)
        batch._set_up(_spread(seed, len(positions)), rules, num_threads)
        batch._place(None, positions, checks.dice_script(dice))
        loops.begin_rows(batch._games, None, batch._scripts, batch.rules.compiled)
        return batch

    @classmethod
    def from_boards(cls, boards: Ints, players: Any, dice: Any, rules: Rules) -> GameBatch:
        """Games that stand at decisions, or are over, for callers who know them to: unchecked.

        Args:
            boards: Each player's board as `boards` returns them, int64 (B, P).
            players: Who decides, or who has won; integers (B,) or one for all.
            dice: The die to be played, or 0 where the game is over; integers (B,) or one for all.
            rules: The rules of all games.
        """
        batch = cls.__new__(cls)
        batch._set_up(_spread(0, len(boards)), rules)
        batch._games[:, : rules.num_players] = boards
        batch._games[:, TURN] = np.asarray(players, dtype=np.int64) << DIE_BITS | dice
        loops.rekey_rows(batch._games, None)
        return batch

    def _place(
        self, index: Ints | None, positions: Sequence[Position | str], script: Int8s
    ) -> None:
        """Set up the rows as given, in the episodes they name, with no roll made; in place."""
        checked = [as_position(position, self.rules) for position in positions]
        self._script(index, script)
        rows = range(len(self)) if index is None else index.tolist()
        for row, position in zip(rows, checked, strict=True):
            boards = [sum(1 << p - 1 for p in own if p > 0) for own in position.pawns]
            self._games[row, : len(boards)] = boards
            self._games[row, TURN] |= position.player << DIE_BITS | (position.die or 0)
        loops.rekey_rows(self._games, index)

    def _script(self, index: Ints | None, script: Int8s) -> None:
        """Give the rows the same scripted rolls, perhaps none; in place."""
        rows: Any = slice(None) if index is None else index
        if self._scripts is None or index is None:
            self._scripts = np.zeros((len(self), len(script)), np.int8) if len(script) else None
        if self._scripts is None:
            return
        missing = max(0, len(script) - self._scripts.shape[1])
        self._scripts = np.pad(self._scripts, ((0, 0), (0, missing)))
        self._scripts[rows] = 0
        self._scripts[rows, : len(script)] = script

    def __copy__(self) -> GameBatch:
        return self.copy()

    def copy(self, seed: int | Sequence[int] | Ints | None = None) -> GameBatch:
        """An independent copy: with the same coming dice, or with those of another seed."""
        other = self._bare_copy()
        if seed is None:
            other._scripts = None if self._scripts is None else self._scripts.copy()
        else:
            other._rekey(_spread(seed, len(self)))
        return other

    def blind(self) -> GameBatch:
        """A copy with other coming dice, for agents to look at: playing it foretells nothing.

        Its seeds follow from this batch's, so that an agent's draws can be repeated.
        """
        other = self._bare_copy()
        seeds = np.empty(len(self), dtype=np.int64)
        loops.blind_seeds(self.seeds, seeds)
        other._rekey(seeds)
        return other

    def _bare_copy(self) -> GameBatch:
        other = type(self).__new__(type(self))
        other._set_up(self._games[:, SEED], self.rules, self.num_threads)
        other._games[:] = self._games
        return other

    def _rekey(self, seeds: Ints) -> None:
        self._games[:, SEED] = seeds
        loops.rekey_rows(self._games, None)

    def reset(
        self,
        rows: Any = None,
        seeds: int | Sequence[int] | Ints | None = None,
        *,
        position: Position | str | None = None,
        dice: Sequence[int] | None = None,
    ) -> None:
        """Deal new games; in place.

        Args:
            rows: Row numbers or a mask (B,); None for all.
            seeds: One int to derive the rows' seeds from, as the constructor does, or one for each
                of the rows; None for the next game of each row's own seed.
            position: Where these games begin; None for the start of the game.
            dice: Scripted rolls of these games: roll ``n`` is ``dice[n]`` while they last.

        Raises:
            ValueError: An argument is wrong; nothing has changed.
        """
        index = self._index(rows)
        if index is not None and len(np.unique(index)) < len(index):
            raise ValueError(f"rows must be different numbers, got {rows!r}")
        given = None if position is None else as_position(position, self.rules)
        script = checks.dice_script(dice)
        length = self._count(index)
        if seeds is None:
            loops.name_next_episodes(self._games, index)
        else:
            loops.seed_rows(self._games, index, _spread(seeds, length))
        if given is None and not len(script):
            self._start(index)
            return
        self._place(index, [given or start_position(self.rules)] * length, script)
        loops.begin_rows(self._games, index, self._scripts, self.rules.compiled)

    def next_games(self, rows: Ints | None) -> None:
        """`reset` without any of its choices or checks, for callers who know their rows.

        Args:
            rows: int64 (k,), different row numbers; None for all.
        """
        loops.name_next_episodes(self._games, rows)
        self._start(rows)

    def _start(self, index: Ints | None) -> None:
        loops.start_rows(self._games, index, self._scripts, self.rules.compiled)

    def step(self, actions: Any, *, out: Bools | None = None) -> Bools:
        """Play one action in every row; ended rows ignore theirs and start their next game.

        Args:
            actions: Integers (B,).
            out: An array to write into and return; None for a new one.

        Returns:
            Which rows have ended, bool (B,).

        Raises:
            IllegalMoveError: An action is illegal; no row has changed.
            ValueError: The actions are no integers of that shape, or ``out`` does not fit.
        """
        actions = checks.integers("actions", actions, len(self))
        finished = checks.buffer("out", out, (len(self),), np.bool_, actions)
        rules = self.rules.compiled

        def find(games: Ints, rows: Ints | None, part: slice) -> int:
            found = loops.first_illegal(games, actions[part], rules)
            return found if found < 0 else found + (part.start or 0)

        illegal = [row for row in self._in_parts(find, None, nanoseconds=20) if row >= 0]
        if illegal:
            raise self.illegal(illegal[0], actions[illegal[0]])

        def play(games: Ints, rows: Ints | None, part: slice) -> None:
            scripts = None if self._scripts is None else self._scripts[part]
            loops.step_rows(games, scripts, actions[part], finished[part], rules)

        self._in_parts(play, None, nanoseconds=50)
        return finished

    def play(self, rows: Any, actions: Any) -> None:
        """Play actions (k,) in some rows (k,), all at a decision; the other rows stand still.

        A row that is named twice plays twice.

        Raises:
            IllegalMoveError: An action is illegal; rows before it have been played.
            ValueError: The rows or actions are no integers of that shape.
        """
        index = self._index(rows)
        chosen = checks.integers("actions", actions, self._count(index))
        bad = loops.play_rows(self._games, index, chosen, self._scripts, self.rules.compiled)
        if bad >= 0:
            raise self.illegal(bad if index is None else int(index[bad]), int(chosen[bad]))

    def scripted_actions(self, rows: Any, policy: str, seed: int = 0) -> Ints:
        """What a scripted policy plays in rows (k,) at a decision: int64 (k,).

        Raises:
            ValueError: There is no such row or policy, a row has ended, or the seed is none.
        """
        index = self._index(rows)
        code, key = policy_code(policy), dice.policy_key(checks.checked_seed(seed))
        actions = np.empty(self._count(index), dtype=np.int64)
        if not loops.act_rows(self._games, index, code, key, actions, self.rules.compiled):
            raise ValueError(f"rows must stand at a decision, got ended ones in {rows!r}")
        return actions

    def rollout(self, steps: int, policy: str = "random") -> RolloutStats:
        """Play ``steps`` decisions in every row in compiled code; the next game follows an end.

        Args:
            steps: Decisions in each row.
            policy: A scripted policy that decides for everyone.

        Raises:
            ValueError: ``steps`` is below 1 or there is no such policy.
        """
        steps = checks.positive("steps", steps)
        code, key = policy_code(policy), dice.policy_key(0)
        weights = WEIGHTS[self.rules.num_players - 2] if code == CAREFUL else None
        width = len(rollout.TOTALS) + self.rules.num_players

        def run(games: Ints, rows: Ints | None, part: slice) -> Ints:
            totals = np.zeros(width, dtype=np.int64)
            scripts = None if self._scripts is None else self._scripts[part]
            compiled = self.rules.compiled
            rollout.rollout_rows(games, scripts, steps, code, weights, key, totals, compiled)
            return totals

        totals = np.sum(self._in_parts(run, None, nanoseconds=20.0 * steps), axis=0).tolist()
        counts = dict(zip(rollout.TOTALS, totals, strict=False))
        return RolloutStats(wins=tuple(totals[len(rollout.TOTALS) :]), **counts)


def _spread(seed: Any, length: int) -> Ints:
    """A seed for each of ``length`` rows, int64, from one, from one each or from none."""
    if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
        if len(seed) != length:
            raise ValueError(f"seeds must be one or {length}, one for each row; got {len(seed)}")
        return checks.checked_seeds(seed)
    seeds = np.empty(length, dtype=np.int64)
    loops.spread_seeds(checks.seed_or_fresh(seed), seeds)
    return seeds
