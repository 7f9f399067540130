"""A slow and plain reference of "petits chevaux", written from the numbered rules alone.

It shares nothing with the engine it is compared with: pawns are lists of progresses, every
question is answered by looking at all pawns, and each rule is cited by its number (R9).

A progress is 0 in the yard, 1 on the start square, 2 to 40 along the track and 41 to 40 + n in
the home column of a game with n pawns per player (R3).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

YARD = 0
START = 1
LAST_TRACK = 40  # R3: the entrance of the column, the last progress on the track
TRACK_SQUARES = 40
MAX_ACTIONS = 4
CORNERS = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}  # R2

Event = tuple[str | int, ...]
Afterstate = tuple[tuple[tuple[int, ...], ...], int | None, int | None]


class RulesLike(Protocol):
    """What a game reads of its rules."""

    @property
    def num_players(self) -> int:
        """Two, three or four (R1)."""
        ...

    @property
    def num_pawns(self) -> int:
        """Pawns per player, one to four; also the number of squares of a home column."""
        ...

    @property
    def mandatory_capture(self) -> bool:
        """Whether a capture must be played where one is possible (R14)."""
        ...

    @property
    def home_jumps(self) -> bool:
        """Whether a pawn may pass over its own in the home column (R18)."""
        ...

    @property
    def pawn_on_start(self) -> bool:
        """Whether one pawn of each player begins on its start square (R4)."""
        ...


class ReferenceGame:
    """One game, always standing at a decision or at its end.

    Attributes:
        rules: The rules played by.
        pawns: The progresses of each player's pawns, in player order, most advanced first.
        player: Who decides; None at the end.
        die: The die to be played; None at the end.
        winner: Who has won; None before the end.
        rolls: How many rolls have been taken from the given dice so far.
        log: Every event since construction, in order: ``("roll", player, die)``,
            ``("move", player, action, source, target)`` with progresses as source and target,
            ``("capture", victim, by)`` and ``("pass", player)``. A die given to the constructor
            was rolled before, so it has no ``"roll"``.
    """

    def __init__(
        self,
        rules: RulesLike,
        roll: Callable[[int], int],
        *,
        pawns: Sequence[Sequence[int]] | None = None,
        player: int = 0,
        die: int | None = None,
    ) -> None:
        """Sets the position up and plays through all rolls that leave no legal move.

        Args:
            rules: Any object with the attributes of ``RulesLike``.
            roll: ``roll(n)`` is the n-th roll of the game, 1 to 6, with n = 0, 1, ...
            pawns: Per player the progresses of its pawns in any order, a possible position (not
                checked); None for the start of the game.
            player: Who is to roll, or has rolled ``die``.
            die: A die already rolled, the first roll of its turn; None where a turn begins.
        """
        self.rules = rules
        self._roll = roll
        given = start_pawns(rules) if pawns is None else pawns
        self.pawns: list[list[int]] = [most_advanced_first(own) for own in given]
        self.player: int | None = player
        self.die: int | None = None
        self.winner: int | None = None
        self.rolls = 0
        self.log: list[Event] = []
        self._rolls_left = 0  # how many rolls the turn still allows if none can be played
        self._set_up(player, die)

    def _set_up(self, player: int, die: int | None) -> None:
        for other in range(self.rules.num_players):
            if has_won(self.pawns[other], self.rules):
                self._end(other)
                return
        self._begin_turn(int(player))
        if die is not None:
            self._rolls_left -= 1  # the given die is the first roll of its turn
            self.die = int(die)
        self._roll_to_decision()

    # What may be played

    def action_mask(self) -> list[int]:
        """Returns four numbers, 1 where the pawn of that rank may be played and 0 elsewhere.

        Of the pawns in the yard only the first is ever 1. All are 0 at the end.
        """
        mask = [0] * MAX_ACTIONS
        if self.player is None or self.die is None:
            return mask
        for source in self._legal_sources(self.player, self.die):
            # No two pawns share a progress but in the yard, where the first stands for all.
            mask[self.pawns[self.player].index(source)] = 1
        return mask

    def legal_actions(self) -> list[int]:
        """Returns the legal actions in rising order; none at the end."""
        return [action for action, legal in enumerate(self.action_mask()) if legal]

    def captured_by(self, action: int) -> int | None:
        """Returns the player whose pawn the legal action would send back, or None.

        Raises:
            ValueError: The action is illegal.
        """
        player, _, target = self._move(action)
        return self._captured(player, target)

    def afterstate(self, action: int) -> Afterstate:
        """Returns what the legal action leads to, without changing the game or rolling.

        Returns:
            The pawns of each player, most advanced first; the next player to roll, or None if
            the move wins; the winner, or None.

        Raises:
            ValueError: The action is illegal.
        """
        player, source, target = self._move(action)
        after = self._pawns_after(player, source, target)
        pawns = tuple(tuple(own) for own in after)
        if has_won(after[player], self.rules):
            return pawns, None, player
        return pawns, self._next_to_roll(player), None

    def places(self) -> tuple[int, ...] | None:
        """Returns each player's place, 1 for the best, equals sharing; None before the end."""
        if self.winner is None:
            return None
        # R20: pawns in the column, then the distance. Only the winner's column is full (R19).
        merits = [(len(in_column(own)), sum(own)) for own in self.pawns]
        return tuple(1 + sum(other > merit for other in merits) for merit in merits)

    # Playing

    def play(self, action: int) -> None:
        """Plays a legal action and rolls on to the next decision or the end.

        Raises:
            ValueError: The action is illegal; nothing has changed.
        """
        player, source, target = self._move(action)
        victim = self._captured(player, target)
        following = self._next_to_roll(player)
        self.pawns = self._pawns_after(player, source, target)
        self.log.append(("move", player, action, source, target))
        if victim is not None:
            self.log.append(("capture", victim, player))
        if has_won(self.pawns[player], self.rules):
            self._end(player)  # R19: at once, without the roll a 6 would give
            return
        if following == player:
            self._roll_again()
        else:
            self._begin_turn(following)
        self._roll_to_decision()

    def _move(self, action: int) -> tuple[int, int, int]:
        """Returns the player to move and the progress its pawn leaves and reaches."""
        if self.player is None or self.die is None or action not in self.legal_actions():
            raise ValueError(f"action {action!r} is not legal at {text(self)}")
        source = self.pawns[self.player][action]
        return self.player, source, target_of(source, self.die)

    def _next_to_roll(self, player: int) -> int:
        """Returns who rolls after the present die has been played, unless that wins."""
        if self.die == 6:
            return player  # R8
        return self._next_clockwise(player)

    def _next_clockwise(self, player: int) -> int:
        return (player + 1) % self.rules.num_players  # R2

    def _begin_turn(self, player: int) -> None:
        self.player = player
        self.die = None
        # R9: looked at when the turn starts, and only then.
        self._rolls_left = 3 if self._has_three_tries(player) else 1

    def _roll_again(self) -> None:
        self.die = None
        self._rolls_left = 1  # R8: the same turn goes on, so R9 is not looked at

    def _roll_to_decision(self) -> None:
        """Rolls, and passes the turn, until the die of some player can be played."""
        # R9: with three tries a 6 can always be played and nothing else ever can, so that the
        # series ends with the first roll that can be played.
        while not self.legal_actions():
            if self._rolls_left == 0:
                self._pass()
            self._take_roll()

    def _take_roll(self) -> None:
        assert self.player is not None
        self.die = int(self._roll(self.rolls))
        self.rolls += 1
        self._rolls_left -= 1
        self.log.append(("roll", self.player, self.die))

    def _pass(self) -> None:
        """Passes the turn (R6, R9); a 6 that could not be played gives no roll (R8)."""
        assert self.player is not None
        self.log.append(("pass", self.player))
        self._begin_turn(self._next_clockwise(self.player))

    def _end(self, winner: int) -> None:
        self.winner = winner
        self.player = None
        self.die = None

    # The rules of moving

    def _has_three_tries(self, player: int) -> bool:
        """R9: nobody on the track, and nobody in the column that could still move."""
        own = self.pawns[player]
        if any(is_on_track(progress) for progress in own):
            return False
        numbers = range(1, 7)
        return not any(
            self._is_possible(player, progress, number)
            for progress in in_column(own)
            for number in numbers
        )

    def _legal_sources(self, player: int, die: int) -> list[int]:
        """Returns the progresses of the pawns that the priorities R12 to R15 leave."""
        own = self.pawns[player]
        possible = [source for source in set(own) if self._is_possible(player, source, die)]
        if YARD in own and START in possible:
            return [START]  # R12
        if YARD in possible and START not in own:
            return [YARD]  # R13
        capturing = [source for source in possible if self._captures(player, source, die)]
        if self.rules.mandatory_capture and capturing:
            return capturing  # R14
        return possible  # R15

    def _is_possible(self, player: int, source: int, die: int) -> bool:
        """Says whether the pawn can make the move, priorities apart."""
        own = self.pawns[player]
        if source == YARD and die != 6:
            return False  # R7
        target = target_of(source, die)
        if target > LAST_TRACK + self.rules.num_pawns:
            return False  # R17
        if target in own:
            return False  # R10
        if self.rules.home_jumps:
            return True  # R18, the option
        return not any(source < passed < target for passed in in_column(own))  # R18

    def _captures(self, player: int, source: int, die: int) -> bool:
        return self._captured(player, target_of(source, die)) is not None

    def _captured(self, player: int, target: int) -> int | None:
        """R11: returns the opponent whose pawn stands where the player's pawn would stop."""
        if not is_on_track(target):
            return None  # R16
        for other in range(self.rules.num_players):
            if other != player and self._progress_there(player, target, other) is not None:
                return other
        return None

    def _progress_there(self, player: int, target: int, other: int) -> int | None:
        """Returns the progress of the other's pawn on the player's square, if there is one."""
        for progress in self.pawns[other]:
            if is_on_track(progress) and self._square(other, progress) == self._square(
                player, target
            ):
                return progress
        return None

    def _square(self, player: int, progress: int) -> int:
        """Returns the track square of a pawn on the track (R3)."""
        corner = CORNERS[self.rules.num_players][player]
        return (10 * corner + progress - 1) % TRACK_SQUARES

    def _pawns_after(self, player: int, source: int, target: int) -> list[list[int]]:
        """Returns new pawns, after a move of the player's and its capture."""
        after = [list(own) for own in self.pawns]
        victim = self._captured(player, target)
        if victim is not None:
            hit = self._progress_there(player, target, victim)
            after[victim] = [YARD if progress == hit else progress for progress in after[victim]]
        after[player].remove(source)
        after[player].append(target)
        return [most_advanced_first(own) for own in after]


def text(game: ReferenceGame) -> str:
    """Returns the position, as in ``"12.1.0.0/44.3.0.0 0 6"``: pawns, player and die.

    A finished game has its winner as the player and ``-`` as the die.
    """
    pawns = "/".join(".".join(str(progress) for progress in own) for own in game.pawns)
    player = game.player if game.winner is None else game.winner
    die = "-" if game.die is None else str(game.die)
    return f"{pawns} {player} {die}"


def start_pawns(rules: RulesLike) -> list[list[int]]:
    """Returns the pawns at the start of a game (R4)."""
    first = START if rules.pawn_on_start else YARD
    return [[first] + [YARD] * (rules.num_pawns - 1) for _ in range(rules.num_players)]


def most_advanced_first(own: Sequence[int]) -> list[int]:
    """Returns one player's progresses in the order that the actions number."""
    return sorted((int(progress) for progress in own), reverse=True)


def target_of(source: int, die: int) -> int:
    """Returns the progress that a pawn would reach (R5), from the yard the start square (R7)."""
    return START if source == YARD else source + die


def is_on_track(progress: int) -> bool:
    """Says whether a pawn stands on the track, start square and entrance included (R3)."""
    return START <= progress <= LAST_TRACK


def in_column(own: Sequence[int]) -> list[int]:
    """Returns those of one player's progresses that are in its home column (R3)."""
    return [progress for progress in own if progress > LAST_TRACK]


def has_won(own: Sequence[int], rules: RulesLike) -> bool:
    """Says whether each square of the home column holds a pawn (R19)."""
    return sorted(own) == [LAST_TRACK + step for step in range(1, rules.num_pawns + 1)]
