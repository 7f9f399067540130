"""What all commands share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from ludo_env.core.position import Position
from ludo_env.core.rules import Rules
from ludo_env.render.text import board_text, coloured_text

DONE, FAILED, BAD_ARGUMENTS = 0, 1, 2


class BadArgumentsError(Exception):
    """The command line asks for something that cannot be."""


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Leave with one line on stderr."""
        raise BadArgumentsError(f"{message} (see {self.prog} --help)")


def add_options_of_rules(parser: argparse.ArgumentParser, what: str = "a rule") -> None:
    """Add a flag for each option of the rules."""
    for name, default in (
        ("mandatory-capture", True),
        ("home-jumps", False),
        ("pawn-on-start", False),
    ):
        action = argparse.BooleanOptionalAction
        parser.add_argument(
            f"--{name}", action=action, default=default, help=f"{what} (%(default)s)"
        )


def rules_of(options: argparse.Namespace, players: int) -> Rules:
    """The rules that the user asks for."""
    rules: Rules = checked(
        Rules,
        players,
        options.pawns,
        options.mandatory_capture,
        options.home_jumps,
        options.pawn_on_start,
    )
    return rules


def add_seed_and_json(parser: argparse.ArgumentParser, of_what: str) -> None:
    """Add the flags ``--seed`` and ``--json``."""
    parser.add_argument(
        "--seed", type=int, default=None, help=f"seed of {of_what} (default: fresh)"
    )
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the flag ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def counted(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number:,} {what}" + ("s" if number != 1 else "")


def say(text: str) -> None:
    """Tell the user something that is no result."""
    print(text, file=sys.stderr)


def text_drawer() -> Callable[[Position, Rules], str]:
    """What draws boards as text: in colour on a terminal, unless NO_COLOR is set."""
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return coloured_text if is_coloured and os.environ.get("TERM") != "dumb" else board_text


def checked(make: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What ``make`` makes of the user's arguments; its complaint is about them."""
    try:
        return make(*arguments, **keywords)
    except ValueError as error:
        raise BadArgumentsError(str(error)) from error


class progress:  # noqa: N801 (used as a function)
    """A progress bar on stderr where that is a terminal and tqdm is there; else silence."""

    def __init__(self, total: int, unit: str) -> None:
        self._bar = None
        if sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, unit=f" {unit}", leave=False)

    def __enter__(self) -> Callable[[int], None]:
        return self._bar.update if self._bar is not None else lambda _: None

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
