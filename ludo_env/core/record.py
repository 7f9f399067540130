"""Records of games: every roll and every move, to be played again, looked at, and doubted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludo_env.core import checks, dice
from ludo_env.core.game import Captured, Event, Game, Moved, Passed, Roll
from ludo_env.core.position import Position, square_name
from ludo_env.core.rules import YARD, Rules


class Step(NamedTuple):
    """A decision of a game.

    Attributes:
        position: Where it was made, the die shown.
        action: The pawn that was played, by rank.
        events: What happened from the move to the next decision or the end.
    """

    position: Position
    action: int
    events: tuple[Event, ...]


class Replay(NamedTuple):
    """A game played again.

    Attributes:
        opening: What happened before the first decision.
        steps: Its decisions.
        end: Where it stands after the last.
    """

    opening: tuple[Event, ...]
    steps: tuple[Step, ...]
    end: Position


@dataclass(frozen=True)
class Record:
    """A game, whole or up to a decision.

    Attributes:
        rules: Its rules.
        agents: The players' names.
        dice: Every roll, tries included, as digits.
        actions: The action of every decision, as digits.
        places: The players' places (R20), those that forfeited last; zeros where it did not end.
        seed: The seed that the dice follow from; None where they follow from none.
        episode: Which of the seed's games it is.
        position: Where it began, as text; None for the start.
        forfeits: The players that forfeited it.
    """

    rules: Rules
    agents: tuple[str, ...]
    dice: str
    actions: str
    places: tuple[int, ...]
    seed: int | None = None
    episode: int = 0
    position: str | None = None
    forfeits: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        actions: Iterable[int],
        agents: Sequence[str],
        *,
        rules: Rules = Rules(),
        seed: int,
        episode: int = 0,
        position: Position | str | None = None,
        forfeits: Sequence[int] = (),
    ) -> Record:
        """The record of the game that some actions make of a seed.

        Args:
            actions: The action of every decision.
            agents: The players' names.
            rules: The rules.
            seed: The seed of the dice.
            episode: Which of the seed's games.
            position: Where it began; None for the start.
            forfeits: The players that forfeited it.

        Raises:
            IllegalMoveError: An action is illegal.
            ValueError: An argument is wrong.
        """
        game = Game(rules, seed=seed, episode=episode, position=position)
        played = [checks.as_action(action) for action in actions]
        for action in played:
            game.push(action)
        return cls(
            game.rules,
            tuple(agents),
            rolled(seed, episode, game.rolls),
            digits(np.array(played, dtype=np.int8)),
            _places(game, forfeits),
            seed,
            episode,
            None if position is None else str(position),
            tuple(forfeits),
        )

    def replay(self) -> Replay:
        """Play the game again, by the rules.

        Raises:
            ValueError: Its dice are not those of its seed, a move is illegal, or another number of
                rolls or another result comes out; the message says where.
        """
        self._check_dice()
        try:
            game = Game(
                self.rules,
                seed=0 if self.seed is None else self.seed,
                episode=self.episode,
                position=self.position,
                dice=list(map(int, self.dice)),
            )
        except ValueError as error:
            raise ValueError(f"it does not begin: {error}") from error
        steps = tuple(self._step(game, number) for number in range(len(self.actions)))
        if game.rolls != len(self.dice):
            raise ValueError(f"{len(self.dice)} rolls are noted, its moves take {game.rolls}")
        if self.places != _places(game, self.forfeits):
            told = f"places {list(self.places)} are noted, where"
            raise ValueError(f"{told} it comes to {list(_places(game, self.forfeits))}")
        return Replay(game.opening_events, steps, game.position)

    def _check_dice(self) -> None:
        if self.seed is None:
            return
        seeded = rolled(self.seed, self.episode, len(self.dice))
        for number, (noted, due) in enumerate(zip(self.dice, seeded, strict=True), 1):
            if noted != due:
                raise ValueError(f"roll {number} is noted as {noted}, its seed gives {due}")

    def _step(self, game: Game, number: int) -> Step:
        where, action = game.position, int(self.actions[number])
        legal = np.flatnonzero(game.action_mask()).tolist()
        if action not in legal:
            allowed = f"legal are {legal}" if legal else "the game is over"
            raise ValueError(f"decision {number + 1} at {str(where)!r} is {action}; {allowed}")
        events = game.play(action)
        if game.rolls > len(self.dice):
            raise ValueError(f"decision {number + 1} rolls on, and no more rolls are noted")
        return Step(where, action, events)

    def text(self) -> str:
        """The game for people, a line for each turn: every roll, and the move that it was used for.

        ``6 yard-1, 3 1-4 x2`` is a six that brought a pawn out, and a three that captured a pawn
        of player 2; ``-`` is a turn that passed.

        Raises:
            ValueError: See `replay`.
        """
        played = self.replay()
        events = [*played.opening, *(event for step in played.steps for event in step.events)]
        return "\n".join([*_turns(self, events), _result(self)])


def digits(values: NDArray[np.int8]) -> str:
    """Numbers below ten, one digit each."""
    return (values + np.int8(ord("0"))).astype(np.int8).tobytes().decode("ascii")


def rolled(seed: int, episode: int, count: int) -> str:
    """The first rolls of a game, as digits."""
    rolls = np.empty(count, dtype=np.int8)
    dice.write_rolls(dice.game_key(seed, episode), rolls)
    return digits(rolls)


def with_forfeits(places: Sequence[int], forfeits: Sequence[int]) -> tuple[int, ...]:
    """Places where those who forfeited come last; zeros where nobody is left."""
    if not forfeits or not any(places):
        return tuple(places)
    if len(forfeits) == len(places):
        return (0,) * len(places)
    order = [place + len(places) * (player in forfeits) for player, place in enumerate(places)]
    return tuple(1 + sum(other < own for other in order) for own in order)


def _places(game: Game, forfeits: Sequence[int]) -> tuple[int, ...]:
    return with_forfeits(game.places() or (0,) * game.rules.num_players, forfeits)


def _turns(record: Record, events: Sequence[Event]) -> Iterator[str]:
    """A line for each turn."""
    turns: list[tuple[int, list[str]]] = []
    for event in events:
        if isinstance(event, Captured):
            turns[-1][1][-1] += f" x{event.player}"
            continue
        if not turns or turns[-1][0] != event.player:
            turns.append((event.player, []))
        match event:
            case Roll(_, die):
                turns[-1][1].append(str(die))
            case Moved(_, move):
                if not turns[-1][1]:  # a die that the position came with
                    turns[-1][1].append(str(_die_of(move.source, move.target)))
                turns[-1][1][-1] += f" {square_name(move.source)}-{move.target}"
            case Passed(_):
                turns[-1][1].append("-")
    width = len(str(len(turns)))
    for number, (player, words) in enumerate(turns, 1):
        yield f"{number:{width}}. {record.agents[player]} ({player}): {', '.join(words)}"


def _die_of(source: int, target: int) -> int:
    return 6 if source == YARD else target - source


def _result(record: Record) -> str:
    def named(player: int) -> str:
        return f"{record.agents[player]} ({player})"

    parts = []
    if any(record.places):
        order = sorted(range(len(record.places)), key=record.places.__getitem__)
        told = ", ".join(f"{record.places[player]} {named(player)}" for player in order)
        parts.append(f"places: {told}")
    if record.forfeits:
        parts.append(f"forfeited: {', '.join(map(named, record.forfeits))}")
    return "; ".join(parts) or "not played to its end"
