"""One game, always standing at a decision or at its end: the friendly face of a batch of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import checks, loops, turns
from ludo_env.core.batch import GameBatch
from ludo_env.core.kernels import (
    COUNTS,
    DIE_BITS,
    DIE_MASK,
    EPISODE_SHIFT,
    PLAYER_MASK,
    ROLLS_MASK,
    SEED,
    TURN,
    begin_episode,
    legal_destination,
    source_of,
    victim_of,
)
from ludo_env.core.observation import OBSERVATION_LENGTH, write_observation
from ludo_env.core.position import Position, start_position
from ludo_env.core.rules import MAX_PAWNS, MAX_PLAYERS, Rules, as_rules, is_integer

# A seating (see `turns.settle_rows`) in which every player is to be asked.
_ASK_ALL = np.full(1 + 2 * MAX_PLAYERS, -1)


class Move(NamedTuple):
    """A pawn's move.

    Attributes:
        action: The pawn, by rank: 0 is the most advanced.
        source: Progress it starts from (R3).
        target: Progress it ends on.
        captured: The player whose pawn goes back to its yard, or None.
    """

    action: int
    source: int
    target: int
    captured: int | None


class Roll(NamedTuple):
    """A die was rolled."""

    player: int
    die: int


class Moved(NamedTuple):
    """A pawn was moved."""

    player: int
    move: Move


class Captured(NamedTuple):
    """A pawn of ``player`` was sent to its yard (R11)."""

    player: int
    by: int


class Passed(NamedTuple):
    """The turn passed without a move (R6)."""

    player: int


Event = Roll | Moved | Captured | Passed


class Game:
    """One game; it plays through rolls that leave no legal move.

    Args:
        rules: The rules.
        seed: The seed of the dice, an int from 0 to 2**63 − 1; None for a fresh one.
        episode: Which of the seed's games, from 0.
        position: A `Position` or its text to go on from, played through to its first decision.
        dice: Scripted rolls: the ``n``-th roll of the game is ``dice[n]`` while they last. Each
            single roll counts, tries included; a die given with the position does not.

    Raises:
        ValueError: An argument is wrong, or the position is impossible.

    Example:
        >>> game = Game(Rules(num_players=2), seed=1, dice=[6, 6, 3])
        >>> str(game.position)
        '0.0.0.0/0.0.0.0 0 6'
        >>> events = game.play(0)
        >>> events[-1]
        Roll(player=0, die=6)
        >>> game.legal_moves()
        (Move(action=0, source=1, target=7, captured=None),)
    """

    def __init__(
        self,
        rules: Rules = Rules(),
        *,
        seed: int | None = None,
        episode: int = 0,
        position: Position | str | None = None,
        dice: Sequence[int] | None = None,
    ) -> None:
        rules = as_rules(rules)
        episode = checks.episode_number(episode)
        batch = GameBatch.__new__(GameBatch)
        batch._set_up(np.array([checks.seed_or_fresh(seed)], dtype=np.int64), rules)
        begin_episode(batch._games[0], episode)
        start = start_position(rules) if position is None else position
        batch._place(None, [start], checks.dice_script(dice))
        self._stand_on(batch)
        roller = self._player
        begin = partial(loops.begin, self._row, self._script, rules=self._compiled)
        self.opening_events: tuple[Event, ...] = tuple(_roll_events(self._logged(begin), roller))

    def _stand_on(self, batch: GameBatch) -> None:
        self._batch = batch
        self._row = batch._games[0]
        self._words = memoryview(self._row)  # the same, read in a third of the time
        self._script = None if batch._scripts is None else batch._scripts[0]
        self._compiled = batch.rules.compiled
        self._num_players = batch.rules.num_players

    def __getstate__(self) -> dict[str, Any]:
        return {"_batch": self._batch, "opening_events": self.opening_events}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._stand_on(self._batch)

    def __copy__(self) -> Game:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self.copy()

    def __repr__(self) -> str:
        return f"Game({self.rules}, position={str(self.position)!r})"

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._batch.rules

    @property
    def seed(self) -> int:
        """The seed of the dice."""
        return self._words[SEED]

    @property
    def episode(self) -> int:
        """Which of the seed's games this is, from 0."""
        return self._words[TURN] >> EPISODE_SHIFT

    @property
    def player(self) -> int | None:
        """Who decides; None at the end."""
        turn = self._words[TURN]
        return turn >> DIE_BITS & PLAYER_MASK if turn & DIE_MASK else None

    @property
    def die(self) -> int | None:
        """The die to be played; None at the end."""
        return self._die or None

    @property
    def winner(self) -> int | None:
        """Who won; None before the end."""
        return None if self._die else self._player

    @property
    def _player(self) -> int:
        return self._words[TURN] >> DIE_BITS & PLAYER_MASK

    @property
    def _die(self) -> int:
        return self._words[TURN] & DIE_MASK

    @property
    def rolls(self) -> int:
        """Rolls made so far, tries included."""
        return self._words[COUNTS] & ROLLS_MASK

    @property
    def position(self) -> Position:
        """Where all pawns stand, who decides, and the die."""
        return self._batch.position(0)

    def places(self) -> tuple[int, ...] | None:
        """Each player's place (R20): 1 is best, equals share; None before the end."""
        return None if self.winner is None else tuple(self._batch.places()[0].tolist())

    def action_mask(self) -> NDArray[np.int8]:
        """Legal actions as ones, int8 (4,), a new array; zeros at the end."""
        mask = np.empty(4, dtype=np.int8)
        loops.write_mask(self._row, mask, self._compiled)
        return mask

    def legal_moves(self) -> tuple[Move, ...]:
        """The different moves open to the player who decides; empty at the end."""
        return tuple(self._move(int(action)) for action in np.flatnonzero(self.action_mask()))

    def play(self, action: Any) -> tuple[Event, ...]:
        """Play a legal action and roll on to the next decision or the end.

        Returns:
            What happened, in order.

        Raises:
            IllegalMoveError: The action is illegal or the game is over; nothing was played.
            ValueError: The action is no integer.
        """
        action = checks.as_action(action)
        if not 0 <= action < MAX_PAWNS or not legal_destination(self._row, action, self._compiled):
            raise self._batch.illegal(0, action)
        move = self._move(action)
        player = self._player
        play = partial(loops.play_action, self._row, action, self._script, rules=self._compiled)
        rolls = self._logged(play)
        captured = () if move.captured is None else (Captured(move.captured, player),)
        return (Moved(player, move), *captured, *_roll_events(rolls, None))

    def push(self, action: Any) -> NDArray[np.int8]:
        """`play` without telling what happened, for those who only look at the game after it.

        Returns:
            The next decision's `action_mask`.
        """
        action = checks.as_action(action)
        mask = np.empty(MAX_PAWNS, dtype=np.int8)
        if not 0 <= action < MAX_PAWNS or not loops.play_action_and_mask(
            self._row, action, self._script, mask, self._compiled
        ):
            raise self._batch.illegal(0, action)
        return mask

    def push_forced(self, max_rolls: int | None = None) -> None:
        """Play moves as long as there is only one, and fewer than ``max_rolls`` rolls were made."""
        limit = 0 if max_rolls is None else checks.positive("max_rolls", max_rolls)
        turns.settle_decisions(self._row, self._script, _ASK_ALL, True, limit, self._compiled)

    def observation(self, player: int | None = None) -> NDArray[np.int8]:
        """What a player sees, int8 (D,), a new array.

        Args:
            player: The observer; None for the player who decides.

        Raises:
            ValueError: There is no such player, or none is given and the game is over.
        """
        observer: Any = self.player if player is None else player
        if not is_integer(observer) or not 0 <= observer < self._num_players:
            top = self.rules.num_players - 1
            raise ValueError(f"player must be an integer from 0 to {top}, got {observer!r}")
        view = np.empty(OBSERVATION_LENGTH, dtype=np.int8)
        write_observation(self._row, int(observer), view, self._compiled)
        return view

    def afterstates(self) -> dict[int, Position]:
        """What each legal action leads to, before the next roll; a won game names its winner."""
        after = self._batch.afterstates()
        actions = np.flatnonzero(after.legal[0]).tolist()
        rollers = np.maximum(after.player, after.winner)[0].tolist()
        pawns = after.pawns[0].tolist()
        return {a: Position(tuple(map(tuple, pawns[a])), rollers[a]) for a in actions}

    def as_batch(self) -> GameBatch:
        """A batch of this game alone, for agents to act on; a copy, with the same coming dice."""
        return self._batch.copy()

    def copy(self, seed: int | None = None) -> Game:
        """An independent copy: with the same coming dice, or with those of another seed."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._stand_on(self._batch.copy(seed))
        return other

    def _move(self, action: int) -> Move:
        die = self._die
        destination = int(legal_destination(self._row, action, self._compiled))
        victim = int(victim_of(self._row, destination, self._compiled))
        source = int(source_of(destination, die)).bit_length()
        return Move(action, source, destination.bit_length(), victim if victim >= 0 else None)

    def _logged(self, advance: Callable[..., Any]) -> list[list[int]]:
        """Run a kernel that rolls, and tell its rolls as (player, die)."""
        before, rolls = self._row.copy(), self.rolls
        log = np.empty((16, 2), dtype=np.int8)
        advance(log=log)
        made = self.rolls - rolls
        if made > len(log):  # rare: the same rolls again, with room for all of them
            self._row[:] = before
            log = np.empty((made, 2), dtype=np.int8)
            advance(log=log)
        return log[:made].tolist()


def _roll_events(rolls: list[list[int]], roller: int | None) -> Iterator[Event]:
    """Rolls with the turns that passed before and between them (R6).

    Args:
        rolls: (player, die) of each.
        roller: Whose turn it was before the first; None where that turn has ended by a move.
    """
    for player, die in rolls:
        if roller is not None and roller != player:
            yield Passed(roller)
        yield Roll(player, die)
        roller = player
