"""``ludo replay``."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from ludo_env.agents.base import SPECS, Agent, make_agent
from ludo_env.cli.common import BadArgumentsError, add_options_of_rules, checked
from ludo_env.cli.render import looks_like_position, rules_of_position
from ludo_env.core import checks
from ludo_env.core.game import Game
from ludo_env.core.record import Record
from ludo_env.core.record_file import Records
from ludo_env.tables import require_target
from ludo_env.web.replay import replay_page


def add_replay(commands: Any) -> None:
    """Add ``ludo replay``."""
    text = "look at a game, move by move: a page for the browser, or as text"
    parser = commands.add_parser("replay", help=text, description=text)
    parser.add_argument(
        "game",
        help="a file of games, such as `ludo evaluate --output` writes; or a position as text",
    )
    parser.add_argument("--game", type=int, dest="number", help="which of the file's games (first)")
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
        "--out", metavar="FILE", help="the page (default: beside the file, or position.html)"
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
    if looks_like_position(options.game):
        record, path = _of_position(options), Path("position.html")
    else:
        record, path = _of_file(options)
    if options.text:
        print(record.text())
        return
    if options.out is not None:
        path = Path(options.out)
    checked(require_target, "--out", path)
    judge: Agent = checked(make_agent, options.judge, seed=0)
    policy = None if options.policy is None else checked(make_agent, options.policy, seed=0)
    path.write_text(checked(replay_page, record, judge, policy), encoding="utf-8")
    print(path)
    if options.open:
        webbrowser.open(path.resolve().as_uri())


def _of_file(options: argparse.Namespace) -> tuple[Record, Path]:
    """The game that is asked for, and where its page belongs."""
    records: Records = checked(Records, options.game)
    if not records:
        raise BadArgumentsError(f"{options.game} holds no game that has ended")
    number = next(iter(records)) if options.number is None else options.number
    if number not in records:
        low, high = min(records), max(records)
        raise BadArgumentsError(
            f"{options.game} holds {len(records)} games, numbered {low} to {high}; no {number}"
        )
    source = Path(options.game)
    return checked(records.__getitem__, number), source.with_name(f"{source.stem}-{number}.html")


def _of_position(options: argparse.Namespace) -> Record:
    """A game that stands where it began."""
    rules = rules_of_position(options.game, options)
    game = checked(Game, rules, position=options.game, seed=checks.seed_or_fresh(None))
    names = [f"player {player}" for player in range(rules.num_players)]
    return Record.of([], names, rules=rules, seed=game.seed, position=options.game)
