"""``ludo play``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ludo_env.agents.base import SPECS, make_agent
from ludo_env.cli.common import (
    BadArgumentsError,
    add_options_of_rules,
    checked,
    rules_of,
    say,
    text_drawer,
)
from ludo_env.core.rules import Rules
from ludo_env.play.sitting import HUMAN, Sitting
from ludo_env.play.terminal import HELP, Terminal
from ludo_env.web.room import Room


def add_play(commands: Any) -> None:
    """Add ``ludo play``."""
    parser = commands.add_parser(
        "play",
        help="play against agents or people, in the terminal or the browser",
        description="Play against agents or people, in the terminal or the browser (--web).",
        epilog=f"In the terminal:\n{HELP}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="AGENT",
        default=["td"],
        help="one for all other seats, or one for each in turn order, by spaces or commas: "
        f"{HUMAN}, {', '.join(SPECS)} (default: td)",
    )
    parser.add_argument(
        "--players", type=int, help="2, 3 or 4 (default: you and those of --against)"
    )
    parser.add_argument("--seat", type=int, default=0, help="your seat, from 0 (default: 0)")
    parser.add_argument("--pawns", type=int, default=4, help="1 to 4 each (default: 4)")
    add_options_of_rules(parser)
    parser.add_argument("--position", help="where the game begins, as text (default: the start)")
    parser.add_argument("--seed", type=int, help="seed of the dice and the agents (default: fresh)")
    parser.add_argument(
        "--hints", default="td", metavar="AGENT", help="who gives hints (default: td)"
    )
    parser.add_argument(
        "--auto-forced", action="store_true", help="play the only legal move unasked"
    )
    parser.add_argument(
        "--save", metavar="FILE", help="keep the record there, written after every move"
    )
    _add_options_of_web(parser)
    parser.set_defaults(run=_play)


def _add_options_of_web(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--web", action="store_true", help="play on a page in the browser (needs ludo_env[web])"
    )
    parser.add_argument(
        "--port", type=int, default=0, help="of the page, on this machine (default: a free one)"
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="open the page in the browser (default: yes)",
    )


def _play(options: argparse.Namespace) -> None:
    given = [spec for text in options.against for spec in text.split(",") if spec]
    if not given:
        raise BadArgumentsError("--against takes 1 agent or one for each other seat, got none")
    players = 1 + len(given) if options.players is None else options.players
    rules = rules_of(options, players)
    seats = _seats(given, options.seat, rules)
    checked(make_agent, options.hints, seed=0)
    sitting: Sitting = checked(Sitting, seats, rules, seed=options.seed, position=options.position)
    if options.web:
        _play_on_a_page(options, sitting)
    else:
        _play_in_the_terminal(options, sitting)


def _seats(given: Sequence[str], seat: int, rules: Rules) -> list[str]:
    """Who plays: a person in a seat, the others in turn order after it."""
    others = rules.num_players - 1
    if len(given) not in (1, others):
        raise BadArgumentsError(f"--against takes 1 or {others} agents, got {len(given)}")
    if not 0 <= seat < rules.num_players:
        raise BadArgumentsError(f"--seat must be from 0 to {others}, got {seat}")
    specs = list(given) * (1 if len(given) == others else others)
    turns = [HUMAN, *specs]
    return [turns[(player - seat) % rules.num_players] for player in range(rules.num_players)]


def _play_in_the_terminal(options: argparse.Namespace, sitting: Sitting) -> None:
    terminal: Terminal = checked(
        Terminal,
        sitting,
        input,
        print,
        text_drawer(),
        options.hints,
        options.auto_forced,
        options.save,
    )
    terminal.run()


def _play_on_a_page(options: argparse.Namespace, sitting: Sitting) -> None:
    for flag in ("auto_forced", "save"):
        if getattr(options, flag):
            name = flag.replace("_", "-")
            raise BadArgumentsError(f"--{name} is for the terminal; the page has its own way")
    if options.port not in range(65536):
        raise BadArgumentsError(f"--port must be from 0 to 65535, got {options.port}")
    try:
        from ludo_env.web.server import serve
    except ImportError as error:
        raise BadArgumentsError(str(error)) from error
    checked(serve, Room(sitting, options.hints), options.port, options.open, say)
