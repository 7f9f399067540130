"""``ludo replay``."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.agents.base import SPECS, Agent, make_agent
from ludo_env.cli.common import BadArgumentsError, add_options_of_rules, checked
from ludo_env.cli.render import legal, looks_like_position, require_size, rules_of_position
from ludo_env.core.files import write_whole
from ludo_env.core.position import Position
from ludo_env.core.record import Record
from ludo_env.core.record_file import Records
from ludo_env.tables import as_path, require_target
from ludo_env.web.replay import MISTAKE, replay_page, story


def add_replay(commands: Any) -> None:
    """Add ``ludo replay``."""
    text = "look at a game, move by move: a page for the browser, a moving picture, a plot, or text"
    parser = commands.add_parser("replay", help=text, description=text)
    parser.add_argument(
        "game",
        help="a file of games, such as `ludo evaluate --output` writes; or a position as text",
    )
    parser.add_argument(
        "--game", type=int, dest="number", help="which of the file's games (default: the first)"
    )
    parser.add_argument(
        "--judge",
        default="td",
        metavar="AGENT",
        help="tells chances to win: td[:DEPTH], expectimax[:DEPTH], exact:PATH … (default: td)",
    )
    parser.add_argument(
        "--policy", metavar="AGENT", help=f"also show what it would play: {', '.join(SPECS)}"
    )
    parser.add_argument("--text", action="store_true", help="print a line for each turn instead")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the page; where it ends in .gif a moving picture, in .png a plot of the chances "
        "(default: a page beside the file, or position.html)",
    )
    parser.add_argument(
        "--size", type=int, default=400, help="of the moving picture, in pixels (default: 400)"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="that each decision stays (default: 0.5)"
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page in the browser (default: yes)",
    )
    add_options_of_rules(parser, "a position's rule")
    parser.set_defaults(run=_replay)


def _replay(options: argparse.Namespace) -> None:
    is_position = looks_like_position(options.game)
    record = _of_position(options) if is_position else _of_file(options)
    if options.text:
        if options.out is not None:
            raise BadArgumentsError("--text prints the game; it takes no --out")
        print(record.text())
        return
    path = _target(options, is_position)
    write = _WAYS.get(path.suffix)
    if write is None:
        raise BadArgumentsError(f"--out must end in {' or '.join(_WAYS)}, got {options.out!r}")
    write_whole(path, write(record, options))
    print(path)
    if options.open:
        webbrowser.open(path.as_uri())


def _target(options: argparse.Namespace, is_position: bool) -> Path:
    """Where to write: what the user says, or beside the file."""
    if options.out is not None:
        name = options.out
    elif is_position:
        name = "position.html"
    else:
        source = Path(options.game)
        name = source.with_name(f"{source.stem}-{options.number}.html")
    path: Path = checked(as_path, "--out", name)
    checked(require_target, "--out", path)
    if not is_position and path == Path(options.game).resolve():
        raise BadArgumentsError("--out must not be the file of games itself")
    return path


def _page(record: Record, options: argparse.Namespace) -> bytes:
    judge: Agent = checked(make_agent, options.judge, seed=0)
    policy = None if options.policy is None else checked(make_agent, options.policy, seed=0)
    page: str = checked(replay_page, record, judge, policy)
    return page.encode()


def _moving(record: Record, options: argparse.Namespace) -> bytes:
    require_size(options.size, 1000)
    if not 0.02 <= options.seconds <= 60:
        raise BadArgumentsError(f"--seconds must be from 0.02 to 60, got {options.seconds}")
    try:
        from ludo_env.render.animation import board_gif, frames_of
    except ImportError as error:
        raise BadArgumentsError(str(error)) from error
    return board_gif(list(frames_of(record)), record.rules, options.size, options.seconds)


def _plot(record: Record, options: argparse.Namespace) -> bytes:
    try:
        from ludo_env.render import plots
    except ImportError as error:
        raise BadArgumentsError(str(error)) from error
    judge: Agent = checked(make_agent, options.judge, seed=0)
    frames = checked(story, record, judge, None)["frames"]
    mistakes = [
        (number, frame["player"])
        for number, frame in enumerate(frames)
        if frame.get("cost", 0) >= MISTAKE
    ]
    shares = np.array([frame["chances"] for frame in frames])
    return plots.png(plots.chances(record.agents, shares, mistakes, options.judge))


_WAYS = {".html": _page, ".gif": _moving, ".png": _plot}


def _of_file(options: argparse.Namespace) -> Record:
    """The game that is asked for."""
    records: Records = checked(Records, options.game)
    if not records:
        raise BadArgumentsError(f"{options.game} holds no game: it has no whole line but its head")
    if options.number is None:
        options.number = min(records)
    if options.number not in records:
        low, high = min(records), max(records)
        raise BadArgumentsError(
            f"{options.game} holds {len(records)} games, numbered {low} to {high}; "
            f"no {options.number}"
        )
    record: Record = checked(records.__getitem__, options.number)
    return record


def _of_position(options: argparse.Namespace) -> Record:
    """A game that stands where it began."""
    if options.number is not None:
        raise BadArgumentsError("--game is for files of games, not for a position")
    rules = rules_of_position(options.game, options)
    position = checked(Position.parse, options.game.strip(), rules)
    if position.winner is None and not legal(position, rules):
        raise BadArgumentsError(
            f"{str(position)!r} is no decision: a die must be shown that leaves a legal move "
            "(`ludo render` draws any position)"
        )
    names = [f"player {player}" for player in range(rules.num_players)]
    return Record.of([], names, rules=rules, seed=0, position=position)
