"""A game as a page: every decision on the board, what was thought of it, and the chances over time.

The page is one file that needs nothing else: no network, no server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ludo_env
from ludo_env.agents.base import Agent
from ludo_env.agents.mind import Thoughts, thoughts
from ludo_env.core.batch import GameBatch
from ludo_env.core.game import Event, Game, Move, Moved
from ludo_env.core.position import Position
from ludo_env.core.record import Record, Replay
from ludo_env.core.rules import MAX_PAWNS, Rules
from ludo_env.render.drawing import COLOURS, LastMove
from ludo_env.render.words import described, move_name, told
from ludo_env.web.board import asset, board_markup, embedded, filled, layout

MISTAKE, BLUNDER = 0.02, 0.05
"""What a move must cost of the chance to win, to be marked ? and ??."""

_DIGITS = 4


def replay_page(record: Record, judge: Agent, policy: Agent | None = None) -> str:
    """The page of a game.

    Args:
        record: The game.
        judge: Who tells the chances after each move: an agent with ``action_chances``.
        policy: Whose choices are shown at every decision; None for nobody's.

    Raises:
        ValueError: The record does not follow the rules, or an agent cannot judge it.
    """
    content = embedded(story(record, judge, policy))
    title = " – ".join(record.agents)
    head = (
        f'<meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><style>{asset("page.css")}</style>'
    )
    scripts = (
        f'<script type="application/json" id="story">{content}</script>',
        f"<script>{asset('board.js')}</script>",
        f"<script>{asset('replay.js')}</script>",
    )
    body = filled(
        "replay.html",
        title=escape(title),
        about=escape(_about(record)),
        board=board_markup(record.rules),
    )
    made = f"<footer>ludo_env {ludo_env.__version__}</footer>"
    parts = ["<!DOCTYPE html>", '<html lang="en">', f"<head>{head}</head>", "<body>", body, made]
    return "\n".join([*parts, *scripts, "</body>", "</html>", ""])


def _about(record: Record) -> str:
    rules = ", ".join(f"{name} {value}" for name, value in asdict(record.rules).items())
    seed = "" if record.seed is None else f"; seed {record.seed}, episode {record.episode}"
    return f"{len(record.actions)} decisions, {len(record.dice)} rolls{seed}; {rules}."


def story(record: Record, judge: Agent, policy: Agent | None) -> dict[str, Any]:
    """All that the page shows, as plain values.

    Returns:
        ``layout``; ``players`` with names, places, colours; ``judge`` and ``policy``, their names;
        ``mistake`` and ``blunder``, costs that are marked; ``frames``, one for each decision, with
        what it cost, and one for where the game stands at last, see `_frame`.
    """
    played = record.replay()
    positions = [step.position for step in played.steps]
    if played.end.winner is None:
        positions.append(played.end)
    judged = _thoughts(judge, positions, record.rules)
    if judged.chances is None:
        raise ValueError(f"judge {judge} does not tell chances; td, expectimax, exact:PATH do")
    chosen = None if policy is None else _thoughts(policy, positions, record.rules)
    return {
        "layout": layout(record.rules),
        "players": [
            {
                "name": name,
                "place": record.places[player],
                "colour": COLOURS[player],
                "forfeited": player in record.forfeits,
            }
            for player, name in enumerate(record.agents)
        ],
        "judge": str(judge),
        "policy": None if policy is None else str(policy),
        "mistake": MISTAKE,
        "blunder": BLUNDER,
        "frames": list(_frames(record, played, judged, chosen)),
    }


def _thoughts(agent: Agent, positions: Sequence[Position], rules: Rules) -> Thoughts:
    if not positions:  # a game that was over when it began
        return Thoughts(np.empty(0, np.int64), np.empty((0, MAX_PAWNS, rules.num_players)), None)
    batch = GameBatch.from_positions(positions, rules, seed=0)
    return thoughts(agent, batch, np.arange(len(positions)))


def _frames(
    record: Record, played: Replay, judged: Thoughts, chosen: Thoughts | None
) -> Iterator[dict[str, Any]]:
    before: tuple[Event, ...] = played.opening
    for number, step in enumerate(played.steps):
        frame = _decision(record, step.position, before, judged, chosen, number)
        rank = _rank(frame, step.action)
        chances = [move["chance"] for move in frame["moves"]]
        yield frame | {"played": rank, "cost": round(max(chances) - chances[rank], _DIGITS)}
        before = step.events
    if played.end.winner is None:
        yield _decision(record, played.end, before, judged, chosen, len(played.steps))
    else:
        won = np.array(record.places) == 1  # nobody where all forfeited
        chances = won / max(1, won.sum())
        yield _frame(record, played.end, before, chances)


def _rank(frame: dict[str, Any], action: int) -> int:
    return next(k for k, move in enumerate(frame["moves"]) if move["action"] == action)


def _frame(
    record: Record, position: Position, before: Iterable[Event], chances: NDArray[np.float64]
) -> dict[str, Any]:
    """A position, what led to it, and each player's chance to win."""
    return {
        "pawns": position.pawns,
        "player": position.player,
        "die": position.die,
        "winner": position.winner,
        "chances": [round(chance, _DIGITS) for chance in chances.tolist()],
        "told": told(before, record.agents),
        "label": described(position),
        **_trace(before),
    }


def _decision(
    record: Record,
    position: Position,
    before: Iterable[Event],
    judged: Thoughts,
    chosen: Thoughts | None,
    number: int,
) -> dict[str, Any]:
    """A frame with the legal moves and what is thought of them."""
    assert judged.chances is not None
    chances = judged.chances[number]
    own = chances[:, position.player]
    frame = _frame(record, position, before, chances[int(np.nanargmax(own))])
    moves = Game(record.rules, position=position, seed=0).legal_moves()
    return frame | {
        "moves": [
            _move(move, float(own[move.action]), chosen, number, position.die) for move in moves
        ]
    }


def _move(
    move: Move, chance: float, chosen: Thoughts | None, number: int, die: int | None
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "action": move.action,
        "source": move.source,
        "name": f"{die} {move_name(move)}",
        "chance": round(chance, _DIGITS),
    }
    if chosen is not None:
        shown["chosen"] = bool(chosen.actions[number] == move.action)
        if chosen.probabilities is not None:
            probability = float(chosen.probabilities[number, move.action])
            shown["probability"] = round(probability, _DIGITS)
        if chosen.chances is not None:
            player_chances = chosen.chances[number, move.action]
            shown["own"] = [round(c, _DIGITS) for c in player_chances.tolist()]
    return shown


def _trace(before: Iterable[Event]) -> dict[str, Any]:
    """The last move among some events, where there is one."""
    for event in before:
        if isinstance(event, Moved):
            return {"last": LastMove.of(event.player, event.move)._asdict()}
    return {}
