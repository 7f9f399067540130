"""``ludo render``."""

from __future__ import annotations

import argparse
import io
import re
from typing import Any

from ludo_env.cli.common import (
    BadArgumentsError,
    add_options_of_rules,
    checked,
    rules_of,
    text_drawer,
)
from ludo_env.core.files import write_whole
from ludo_env.core.game import Game
from ludo_env.core.position import Position
from ludo_env.core.rules import Rules
from ludo_env.render.drawing import Extras
from ludo_env.render.svg import board_svg
from ludo_env.tables import as_path, require_target

SUFFIXES = (".svg", ".png")


def add_render(commands: Any) -> None:
    """Add ``ludo render``."""
    text = "draw a position: as text, or as a picture"
    parser = commands.add_parser("render", help=text, description=text)
    parser.add_argument(
        "position",
        help="as text, such as '12.1.0.0/44.3.0.0 0 6': pawns by player, who moves, the die or -",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="a picture, .svg or .png (default: print the board as text)"
    )
    parser.add_argument(
        "--size", type=int, default=600, help="its width and height in pixels (default: 600)"
    )
    add_options_of_rules(parser)
    parser.set_defaults(run=_render)


def _render(options: argparse.Namespace) -> None:
    rules = rules_of_position(options.position, options)
    position = checked(Position.parse, options.position.strip(), rules)
    if options.out is None:
        print(text_drawer()(position, rules))
        return
    require_size(options.size)
    path, extras = checked(as_path, "--out", options.out), Extras(legal=legal(position, rules))
    if path.suffix not in SUFFIXES:
        raise BadArgumentsError(f"--out must end in {' or '.join(SUFFIXES)}, got {options.out!r}")
    checked(require_target, "--out", path)
    write_whole(path, _picture(position, rules, extras, options.size, path.suffix))


def _picture(position: Position, rules: Rules, extras: Extras, size: int, suffix: str) -> bytes:
    if suffix == ".svg":
        return board_svg(position, rules, extras, size).encode()
    import pygame

    from ludo_env.render.image import board_surface

    file = io.BytesIO()
    pygame.image.save(board_surface(position, rules, extras, size), file, "board.png")
    return file.getvalue()


def require_size(size: int, largest: int = 4096) -> None:
    """Refuse a size that no picture can have.

    Raises:
        BadArgumentsError: It is too small or too large.
    """
    if not 64 <= size <= largest:
        raise BadArgumentsError(f"--size must be from 64 to {largest} pixels, got {size}")


def rules_of_position(text: str, options: argparse.Namespace) -> Rules:
    """The rules of a position's text, by its pawns and players and the user's options.

    Raises:
        BadArgumentsError: It has no such numbers of them.
    """
    boards = text.strip().split(" ")[0].split("/")
    options.pawns, players = len(boards[0].split(".")), len(boards)
    if options.pawns not in range(1, 5) or players not in range(2, 5):
        raise BadArgumentsError(
            f"no position: {text!r}; such as '12.1.0.0/44.3.0.0 0 6', for two players"
        )
    return rules_of(options, players)


def looks_like_position(text: str) -> bool:
    """Whether a text is meant as a position and not as a file's name."""
    return re.match(r"\s*[\d.]+(/[\d.]+)+(\s|$)", text) is not None


def legal(position: Position, rules: Rules) -> tuple[int, ...]:
    """The progresses from which may be played, where the die is shown."""
    if position.die is None or position.winner is not None:
        return ()
    game = Game(rules, position=position)
    if game.position != position:  # there was no move, and play went on
        return ()
    return tuple(move.source for move in game.legal_moves())
