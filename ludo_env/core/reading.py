"""What can be read of many games without changing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import checks, lookahead, loops
from ludo_env.core.checks import Ints
from ludo_env.core.kernels import (
    COUNTS,
    DIE_BITS,
    DIE_MASK,
    EPISODE_SHIFT,
    PLAYER_MASK,
    ROLLS_MASK,
    ROW,
    SEED,
    TURN,
)
from ludo_env.core.leaf import Leaf
from ludo_env.core.observation import OBSERVATION_LENGTH
from ludo_env.core.position import Position
from ludo_env.core.results import Afterstates, Bools, Int8s, read_pawns
from ludo_env.core.rules import MAX_PAWNS, Rules, is_integer
from ludo_env.core.threads import Threads

Result = TypeVar("Result")


class IllegalMoveError(ValueError):
    """A move that the mask forbids; nothing was played."""


class Games:
    """Rows of games under the same rules, as one array, and all that can be read of them.

    Attributes:
        rules: The rules of all games.
    """

    def __init__(self, num_games: int, rules: Rules, num_threads: int = 1) -> None:
        self.rules = rules
        self._threads = Threads(checks.positive("num_threads", num_threads))
        self._games = np.zeros((num_games, ROW), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._games)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)}, {self.rules})"

    @property
    def num_games(self) -> int:
        """Number of rows B."""
        return len(self._games)

    @property
    def num_threads(self) -> int:
        """Threads that share the rows; results do not depend on it."""
        return self._threads.number

    @property
    def seeds(self) -> Ints:
        """Each row's seed, int64 (B,)."""
        return self._games[:, SEED].copy()

    @property
    def episodes(self) -> Ints:
        """The number of each row's present game since it was seeded, from 0, int64 (B,)."""
        return self._games[:, TURN] >> EPISODE_SHIFT

    @property
    def players(self) -> Int8s:
        """Who decides, int8 (B,); −1 in ended rows."""
        return np.where(self._die, self._player, -1).astype(np.int8)

    @property
    def dice(self) -> Int8s:
        """The die to be played, int8 (B,); −1 in ended rows."""
        return np.where(self._die, self._die, -1).astype(np.int8)

    @property
    def winners(self) -> Int8s:
        """Who won, int8 (B,); −1 in rows that go on."""
        return np.where(self._die, -1, self._player).astype(np.int8)

    @property
    def finished(self) -> Bools:
        """Which rows have ended, bool (B,)."""
        return self._die == 0

    @property
    def rolls(self) -> Ints:
        """Rolls made so far in each row's present game, int64 (B,)."""
        return self._games[:, COUNTS] & ROLLS_MASK

    @property
    def _die(self) -> Ints:
        return self._games[:, TURN] & DIE_MASK

    @property
    def _player(self) -> Ints:
        return self._games[:, TURN] >> DIE_BITS & PLAYER_MASK

    def places(self, rows: Any = None, *, out: Int8s | None = None) -> Int8s:
        """Each player's place (R20), int8 (k, P); 0 before the end.

        Args:
            rows: Row numbers (k,) or a mask (B,); None for all.
            out: An array to write into and return; None for a new one.

        Raises:
            ValueError: There is no such row, or ``out`` does not fit.
        """
        index = self._index(rows)
        shape = (self._count(index), self.rules.num_players)
        places = checks.buffer("out", out, shape, np.int8, index)
        loops.write_all_places(self._games, index, places, self.rules.compiled)
        return places

    def pawns(self, rows: Any = None, *, out: Int8s | None = None) -> Int8s:
        """Each player's progresses, most advanced first, int8 (k, P, n).

        Args:
            rows: Row numbers (k,) or a mask (B,); None for all.
            out: An array to write into and return; None for a new one.

        Raises:
            ValueError: There is no such row, or ``out`` does not fit.
        """
        index = self._index(rows)
        shape = (self._count(index), self.rules.num_players, self.rules.num_pawns)
        pawns = checks.buffer("out", out, shape, np.int8, index)
        loops.write_all_pawns(self._games, index, pawns, self.rules.compiled)
        return pawns

    def boards(self, rows: Any = None) -> Ints:
        """Each player's board as kernels hold it, int64 (k, P), a new array.

        Bit ``p - 1`` is set where a pawn has progress ``p``; pawns in the yard are the rest.

        Args:
            rows: Row numbers (k,) or a mask (B,); None for all.

        Raises:
            ValueError: There is no such row.
        """
        index = self._index(rows)
        games = self._games if index is None else self._games[index]
        return games[:, : self.rules.num_players].copy()

    def masks(self, rows: Any = None, *, out: Int8s | None = None) -> Int8s:
        """Legal actions of who decides, int8 (k, 4); zeros in ended rows.

        Args:
            rows: Row numbers (k,) or a mask (B,); None for all.
            out: An array to write into and return; None for a new one.

        Raises:
            ValueError: There is no such row, or ``out`` does not fit.
        """
        index = self._index(rows)
        masks = checks.buffer("out", out, (self._count(index), MAX_PAWNS), np.int8, index)

        def write(games: Ints, part_of_index: Ints | None, part: slice) -> None:
            loops.write_masks(games, part_of_index, masks[part], self.rules.compiled)

        self._in_parts(write, index, nanoseconds=20)
        return masks

    def observations(
        self, players: Any = None, rows: Any = None, *, out: Int8s | None = None
    ) -> Int8s:
        """What a player of each row sees, int8 (k, D).

        Args:
            players: One player for each of the rows, integers (k,), −1 for zeros; None for those
                who decide (zeros in ended rows).
            rows: Row numbers (k,) or a mask (B,); None for all.
            out: An array to write into and return; None for a new one.

        Raises:
            ValueError: There is no such player or row, or ``out`` does not fit.
        """
        index = self._index(rows)
        length = self._count(index)
        observers = None if players is None else self._observers(players, length)
        views = checks.buffer("out", out, (length, OBSERVATION_LENGTH), np.int8, index, observers)

        def write(games: Ints, part_of_index: Ints | None, part: slice) -> None:
            who = None if observers is None else observers[part]
            loops.write_observations(games, part_of_index, who, views[part], self.rules.compiled)

        self._in_parts(write, index, nanoseconds=35)
        return views

    def _observers(self, players: Any, length: int) -> Ints:
        observers = checks.integers("players", players, length)
        if length and not -1 <= observers.min() <= observers.max() < self.rules.num_players:
            top = self.rules.num_players - 1
            raise ValueError(f"players must be from 0 to {top}, or -1; got {players!r}")
        return observers

    def afterstates(self, rows: Any = None) -> Afterstates:
        """What each action of the rows leads to, before the next roll.

        Raises:
            ValueError: There is no such row.
        """
        return Afterstates(self._games, self._index(rows), self.rules)

    def best_actions(self, leaf: Leaf, depth: int, rows: Any = None) -> Ints:
        """What looking ahead finds best in rows (k,) at a decision: int64 (k,).

        Each player is taken to play for the best of its own chances to win; ties go to the most
        advanced pawn. The coming dice are not looked at.

        Args:
            leaf: Tells the chances where looking ahead ends (see `ludo_env.core.leaf`).
            depth: Choices to look ahead: 1 for one's own, 2 for the next player's reply to each
                roll as well, and so on.
            rows: Row numbers (k,) or a mask (B,); None for all.

        Raises:
            ValueError: There is no such row, one has ended, or the depth is below 1.
        """
        index = self._index(rows)
        levels = (0,) * checks.positive("depth", depth)
        actions = np.empty(self._count(index), dtype=np.int64)

        def find(games: Ints, part_of_index: Ints | None, part: slice) -> bool:
            chosen, rules = actions[part], self.rules.compiled
            return lookahead.decide_rows(games, part_of_index, levels, leaf, chosen, rules)

        if not all(self._in_parts(find, index, nanoseconds=1_000.0 * 10 ** len(levels))):
            raise ValueError(f"rows must stand at a decision, got ended ones in {rows!r}")
        return actions

    def action_chances(self, leaf: Leaf, depth: int, rows: Any = None) -> NDArray[np.float64]:
        """Each player's chance to win after each action, as `best_actions` compares them.

        Args:
            leaf: See `best_actions`.
            depth: See `best_actions`.
            rows: Row numbers (k,) or a mask (B,); None for all.

        Returns:
            float64 (k, 4, P), NaN where illegal.

        Raises:
            ValueError: There is no such row, or the depth is below 1.
        """
        index = self._index(rows)
        levels = (0,) * checks.positive("depth", depth)
        size = (self._count(index), MAX_PAWNS, self.rules.num_players)
        worth = np.full(size, np.nan)

        def find(games: Ints, part_of_index: Ints | None, part: slice) -> None:
            found, rules = worth[part], self.rules.compiled
            lookahead.appraise_rows(games, part_of_index, levels, leaf, found, rules)

        self._in_parts(find, index, nanoseconds=1_000.0 * 10 ** len(levels))
        return worth

    def legal(self, rows: Any, actions: Any) -> Bools:
        """Whether each action (k,) is legal in its row (k,), bool (k,).

        Raises:
            ValueError: The rows or actions are no integers of that shape.
        """
        index = self._index(rows)
        chosen = checks.integers("actions", actions, self._count(index))
        legal = np.empty(len(chosen), dtype=np.bool_)
        loops.mark_legal(self._games, index, chosen, legal, self.rules.compiled)
        return legal

    def position(self, row: int) -> Position:
        """The position of a row.

        Raises:
            ValueError: There is no such row.
        """
        if not is_integer(row):
            raise ValueError(f"row must be an integer from 0 to {len(self) - 1}, got {row!r}")
        index = checks.row_indices([int(row)], len(self))
        pawns = read_pawns(self._games, index, self.rules)[0]
        player, die = int(self._player[index[0]]), int(self._die[index[0]])
        return Position(tuple(map(tuple, pawns.tolist())), player, die or None)

    def illegal(self, row: int, action: Any) -> IllegalMoveError:
        """The error for an illegal action: names the position, the die and the legal moves."""
        position = self.position(row)
        where = f"row {row}: " if len(self) > 1 else ""
        if position.die is None:
            return IllegalMoveError(f"{where}action {action}: the game is over ({position})")
        legal = ", ".join(map(str, np.flatnonzero(self.masks([row]))))
        return IllegalMoveError(
            f"{where}action {action} is illegal with a {position.die} in position "
            f"{str(position)!r}; legal: {legal}"
        )

    def _index(self, rows: Any) -> Ints | None:
        """Row numbers, or None for all rows."""
        return None if rows is None else checks.row_indices(rows, len(self))

    def _count(self, index: Ints | None) -> int:
        return len(self) if index is None else len(index)

    def _in_parts(
        self,
        task: Callable[[NDArray[np.int64], Ints | None, slice], Result],
        index: Ints | None,
        nanoseconds: float,
    ) -> list[Result]:
        """Run a kernel in as many threads as are worth it, and at most as many as asked for.

        Args:
            task: Takes games, the rows of them that are meant (None for all), and which part of
                the results these make.
            index: The rows to share out; None for all.
            nanoseconds: About how long the kernel takes for a row.

        Returns:
            The results of the parts, in order.
        """

        def run(part: slice) -> Result:
            if index is None:
                return task(self._games[part], None, part)
            return task(self._games, index[part], part)

        return self._threads.run(run, self._count(index), nanoseconds)
