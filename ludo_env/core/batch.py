"""Many games, advanced together by compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from ludo_env.core import checks, dice, loops
from ludo_env.core.checks import Ints
from ludo_env.core.kernels import ROLLS, ROW, TURN
from ludo_env.core.observation import OBSERVATION_LENGTH
from ludo_env.core.position import Position, as_position, start_position
from ludo_env.core.results import Afterstates, Bools, Int8s, RolloutStats, read_pawns
from ludo_env.core.rules import Rules, as_rules, is_integer
from ludo_env.core.scripted import policy_code


class IllegalMoveError(ValueError):
    """A move that the mask forbids; nothing was played."""


class GameBatch:
    """Many games under the same rules, each always at a decision or at its end.

    All returned arrays are new and stay as they are. Copies and pickles keep the coming dice.

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
        self._set_up(num_games, as_rules(rules), _spread(seed, num_games), num_threads)
        loops.start_rows(
            self._games, self._rows, self._seeds, self._episodes, self._scripts, self.rules.compiled
        )

    def _set_up(self, num_games: int, rules: Rules, seeds: Ints, num_threads: int = 1) -> None:
        self.rules = rules
        self.num_threads = checks.positive("num_threads", num_threads)
        self._rows = np.arange(num_games)
        self._games = np.zeros((num_games, ROW), dtype=np.int64)
        self._seeds = seeds
        self._episodes = np.zeros(num_games, dtype=np.int64)
        self._scripts = np.zeros((num_games, 0), dtype=np.int8)
        self._pool: ThreadPoolExecutor | None = None

    @classmethod
    def from_positions(
        cls,
        positions: Sequence[Position | str],
        rules: Rules = Rules(),
        seed: int | Sequence[int] | Ints | None = None,
        *,
        dice: Sequence[int] | None = None,
    ) -> GameBatch:
        """Games that go on from given positions, each played through to its first decision.

        Args:
            positions: One `Position` or text for each row.
            rules: The rules of all games.
            seed: As for the constructor.
            dice: Scripted rolls of every row: roll ``n`` is ``dice[n]`` while they last.

        Raises:
            ValueError: There is no position, one is impossible, or another argument is wrong.
        """
        if not isinstance(positions, list | tuple | np.ndarray) or not len(positions):
            raise ValueError(f"positions must be a non-empty sequence, got {positions!r}")
        seeds = _spread(seed, len(positions))
        batch = cls.__new__(cls)
        batch._set_up(len(positions), as_rules(rules), seeds)
        batch._place(batch._rows, positions, checks.dice_script(dice))
        loops.begin_rows(batch._games, batch._rows, batch._scripts, batch.rules.compiled)
        return batch

    def _place(self, rows: Ints, positions: Sequence[Position | str], script: Int8s) -> None:
        """Set up the rows as given, the first rolls still to be made; in place."""
        checked = [as_position(position, self.rules) for position in positions]
        self._script(rows, script)
        self._games[rows] = 0
        loops.rekey_rows(self._games, rows, self._seeds, self._episodes)
        for row, position in zip(rows, checked, strict=True):
            for player, own in enumerate(position.pawns):
                self._games[row, player] = sum(1 << p - 1 for p in own if p > 0)
            self._games[row, TURN] = position.player << 3 | (position.die or 0)

    def _script(self, rows: Ints, script: Int8s) -> None:
        missing = len(script) - self._scripts.shape[1]
        if missing > 0:
            self._scripts = np.pad(self._scripts, ((0, 0), (0, missing)))
        self._scripts[rows] = 0
        self._scripts[rows, : len(script)] = script

    def __len__(self) -> int:
        return len(self._games)

    def __repr__(self) -> str:
        return f"GameBatch({len(self)}, {self.rules})"

    def __copy__(self) -> GameBatch:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}

    @property
    def num_games(self) -> int:
        """Number of rows B."""
        return len(self._games)

    @property
    def seeds(self) -> Ints:
        """Each row's seed, int64 (B,)."""
        return self._seeds.copy()

    @property
    def episodes(self) -> Ints:
        """The number of each row's present game since it was seeded, from 0, int64 (B,)."""
        return self._episodes.copy()

    @property
    def players(self) -> Int8s:
        """Who decides, int8 (B,); −1 in ended rows."""
        turn = self._games[:, TURN]
        return np.where(turn & 7, turn >> 3, -1).astype(np.int8)

    @property
    def dice(self) -> Int8s:
        """The die to be played, int8 (B,); −1 in ended rows."""
        die = self._games[:, TURN] & 7
        return np.where(die, die, -1).astype(np.int8)

    @property
    def winners(self) -> Int8s:
        """Who won, int8 (B,); −1 in rows that go on."""
        turn = self._games[:, TURN]
        return np.where(turn & 7, -1, turn >> 3).astype(np.int8)

    @property
    def finished(self) -> Bools:
        """Which rows have ended, bool (B,)."""
        return self._games[:, TURN] & 7 == 0

    @property
    def rolls(self) -> Ints:
        """Rolls made so far in each row's present game, int64 (B,)."""
        return self._games[:, ROLLS].copy()

    def places(self, rows: Any = None) -> Int8s:
        """Each player's place (R20), int8 (k, P); 0 before the end. All rows for None."""
        index = self._index(rows)
        places = np.empty((len(index), self.rules.num_players), dtype=np.int8)
        loops.write_all_places(self._games, index, places, self.rules.compiled)
        return places

    def pawns(self, rows: Any = None) -> Int8s:
        """Each player's progresses, most advanced first, int8 (k, P, n). All rows for None."""
        return read_pawns(self._games, self._index(rows), self.rules)

    def masks(self, rows: Any = None) -> Int8s:
        """Legal actions of who decides, int8 (k, 4); zeros in ended rows. All rows for None."""
        index = self._index(rows)
        masks = np.empty((len(index), 4), dtype=np.int8)

        def write(part: slice) -> None:
            loops.write_masks(self._games, index[part], masks[part], self.rules.compiled)

        self._in_parts(write, len(index))
        return masks

    def observations(self, players: Any = None, rows: Any = None) -> Int8s:
        """What a player of each row sees, int8 (k, D).

        Args:
            players: One player for each of the rows, integers (k,), −1 for zeros; None for those
                who decide (zeros in ended rows).
            rows: Row numbers (k,) or a mask (B,); None for all.

        Raises:
            ValueError: There is no such player or row.
        """
        index = self._index(rows)
        if players is None:
            players = self.players[index]
        observers = checks.integers("players", players, len(index))
        if len(index) and not -1 <= observers.min() <= observers.max() < self.rules.num_players:
            top = self.rules.num_players - 1
            raise ValueError(f"players must be from 0 to {top}, or -1; got {players!r}")
        views = np.empty((len(index), OBSERVATION_LENGTH), dtype=np.int8)

        def write(part: slice) -> None:
            loops.write_observations(
                self._games, index[part], observers[part], views[part], self.rules.compiled
            )

        self._in_parts(write, len(index))
        return views

    def _index(self, rows: Any) -> Ints:
        return self._rows if rows is None else checks.row_indices(rows, len(self))

    def position(self, row: int) -> Position:
        """The position of a row.

        Raises:
            ValueError: There is no such row.
        """
        if not is_integer(row):
            raise ValueError(f"row must be an integer from 0 to {len(self) - 1}, got {row!r}")
        index = checks.row_indices([int(row)], len(self))
        pawns = read_pawns(self._games, index, self.rules)[0]
        turn = int(self._games[index[0], TURN])
        return Position(tuple(map(tuple, pawns.tolist())), turn >> 3, (turn & 7) or None)

    def step(self, actions: Any) -> Bools:
        """Play one action in every row; ended rows ignore theirs and start their next game.

        Args:
            actions: Integers (B,).

        Returns:
            Which rows have ended, bool (B,).

        Raises:
            IllegalMoveError: An action is illegal; no row has changed.
            ValueError: The actions are no integers of that shape.
        """
        actions = checks.integers("actions", actions, len(self))
        destinations = np.empty(len(self), dtype=np.int64)
        rules = self.rules.compiled

        def find(part: slice) -> int:
            bad = loops.find_destinations(
                self._games[part], actions[part], destinations[part], rules
            )
            return -1 if bad < 0 else part.start + bad

        bad_rows = [row for row in self._in_parts(find, len(self)) if row >= 0]
        if bad_rows:
            raise self.illegal(min(bad_rows), actions[min(bad_rows)])
        finished = np.empty(len(self), dtype=np.bool_)

        def play(part: slice) -> None:
            loops.step_rows(
                self._games[part],
                self._seeds[part],
                self._episodes[part],
                self._scripts[part],
                destinations[part],
                finished[part],
                rules,
            )

        self._in_parts(play, len(self))
        return finished

    def legal(self, rows: Ints, actions: Ints) -> Bools:
        """Whether each action (k,) is legal in its row (k,), bool (k,)."""
        index = self._index(rows)
        chosen = checks.integers("actions", actions, len(index))
        legal = np.empty(len(index), dtype=np.bool_)
        loops.mark_legal(self._games, index, chosen, legal, self.rules.compiled)
        return legal

    def play(self, rows: Ints, actions: Ints) -> None:
        """Play actions (k,) in some rows (k,), all at a decision; the other rows stand still.

        Raises:
            IllegalMoveError: An action is illegal; rows before it have been played.
            ValueError: The rows or actions are no integers of that shape.
        """
        index = self._index(rows)
        chosen = checks.integers("actions", actions, len(index))
        bad = loops.play_rows(self._games, index, chosen, self._scripts, self.rules.compiled)
        if bad >= 0:
            raise self.illegal(int(index[bad]), int(chosen[bad]))

    def illegal(self, row: int, action: Any) -> IllegalMoveError:
        """The error for an illegal action: names the position, the die and the legal moves."""
        position = self.position(row)
        where = f"row {row}: " if len(self) > 1 else ""
        if position.die is None:
            return IllegalMoveError(f"{where}action {action}: the game is over ({position})")
        mask = np.empty((1, 4), dtype=np.int8)
        loops.write_masks(self._games, np.array([row]), mask, self.rules.compiled)
        legal = ", ".join(map(str, np.flatnonzero(mask)))
        return IllegalMoveError(
            f"{where}action {action} is illegal with a {position.die} in position "
            f"{str(position)!r}; legal: {legal}"
        )

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
        if len(np.unique(index)) < len(index):
            raise ValueError(f"rows must be different numbers, got {rows!r}")
        start = (
            start_position(self.rules) if position is None else as_position(position, self.rules)
        )
        script = checks.dice_script(dice)
        spread = None if seeds is None else _spread(seeds, len(index))
        if spread is None:
            self._episodes[index] += 1
        else:
            self._seeds[index] = spread
            self._episodes[index] = 0
        if position is None and not len(script):
            loops.start_rows(
                self._games, index, self._seeds, self._episodes, self._scripts, self.rules.compiled
            )
            return
        self._place(index, [start] * len(index), script)
        loops.begin_rows(self._games, index, self._scripts, self.rules.compiled)

    def copy(self, seed: int | Sequence[int] | Ints | None = None) -> GameBatch:
        """An independent copy: with the same coming dice, or with those of another seed."""
        other = self._bare_copy()
        if seed is None:
            other._scripts = self._scripts.copy()
        else:
            other._rekey(_spread(seed, len(self)))
        return other

    def blind(self) -> GameBatch:
        """A copy with other coming dice, for agents to look at: playing it foretells nothing.

        Its seeds follow from this batch's, so that an agent's draws can be repeated.
        """
        other = self._bare_copy()
        seeds = np.empty_like(self._seeds)
        loops.blind_seeds(self._seeds, seeds)
        other._rekey(seeds)
        return other

    def _bare_copy(self) -> GameBatch:
        other = type(self).__new__(type(self))
        other._set_up(len(self), self.rules, self._seeds.copy(), self.num_threads)
        other._games[:] = self._games
        other._episodes[:] = self._episodes
        return other

    def _rekey(self, seeds: Ints) -> None:
        self._seeds = seeds
        loops.rekey_rows(self._games, self._rows, self._seeds, self._episodes)

    def afterstates(self, rows: Any = None) -> Afterstates:
        """What each action of the rows leads to, before the next roll."""
        return Afterstates(self._games, self._index(rows), self.rules)

    def scripted_actions(self, rows: Ints, policy: str, seed: int = 0) -> Ints:
        """What a scripted policy plays in rows (k,) at a decision: int64 (k,).

        Raises:
            ValueError: There is no such row or policy, a row has ended, or the seed is none.
        """
        index = self._index(rows)
        code, key = policy_code(policy), dice.policy_key(checks.checked_seed(seed))
        actions = np.empty(len(index), dtype=np.int64)
        if not loops.act_rows(self._games, index, code, key, actions, self.rules.compiled):
            raise ValueError(f"rows must stand at a decision, got ended ones in {rows!r}")
        return actions

    def settle(
        self,
        rows: Ints,
        policies: Int8s,
        keys: Ints,
        *,
        skip_forced: bool,
        max_rolls: int,
    ) -> Ints:
        """Let scripted players move in rows (k,) until somebody else is to be asked; in place.

        Args:
            rows: Row numbers (k,).
            policies: int8 (B, P), each player's scripted policy by code, −1 for one to be asked.
            keys: int64 (B, P), the keys of the policies' draws.
            skip_forced: Whether decisions with one legal move are played through.
            max_rolls: Rolls after which a game is cut; 0 for no limit.

        Returns:
            The player to be asked, `loops.OVER` or `loops.CUT`, int64 (k,).
        """
        asked = np.empty(len(rows), dtype=np.int64)
        loops.settle_rows(
            self._games,
            self._index(rows),
            self._scripts,
            policies,
            keys,
            skip_forced,
            max_rolls,
            asked,
            self.rules.compiled,
        )
        return asked

    def rollout(self, steps: int, policy: str = "random") -> RolloutStats:
        """Play ``steps`` decisions in every row in compiled code; the next game follows an end.

        Args:
            steps: Decisions in each row.
            policy: A scripted policy that decides for everyone.

        Raises:
            ValueError: ``steps`` is below 1 or there is no such policy.
        """
        steps = checks.positive("steps", steps)
        code = policy_code(policy)
        width = len(loops.TOTALS) + self.rules.num_players

        def run(part: slice) -> Ints:
            totals = np.zeros(width, dtype=np.int64)
            loops.rollout_rows(
                self._games[part],
                self._seeds[part],
                self._episodes[part],
                self._scripts[part],
                steps,
                code,
                dice.policy_key(0),
                totals,
                self.rules.compiled,
            )
            return totals

        totals = sum(self._in_parts(run, len(self))).tolist()
        counts = dict(zip(loops.TOTALS, totals, strict=False))
        return RolloutStats(wins=tuple(totals[len(loops.TOTALS) :]), **counts)

    def _in_parts(self, task: Callable[[slice], Any], length: int) -> list[Any]:
        """Run a task on consecutive parts of ``length``, one for each thread; results in order."""
        threads = min(self.num_threads, length)
        if threads <= 1:
            return [task(slice(0, length))]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.num_threads)
        ends = [length * i // threads for i in range(threads + 1)]
        parts = [slice(low, high) for low, high in pairwise(ends)]
        return list(self._pool.map(task, parts))


def _spread(seed: Any, length: int) -> Ints:
    """A seed for each of ``length`` rows, int64, from one, from one each or from none."""
    if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
        if len(seed) != length:
            raise ValueError(f"seeds must be one or {length}, one for each row; got {len(seed)}")
        return np.array([checks.checked_seed(s) for s in seed], dtype=np.int64)
    seeds = np.empty(length, dtype=np.int64)
    loops.spread_seeds(checks.seed_or_fresh(seed), seeds)
    return seeds
