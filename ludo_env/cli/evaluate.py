"""``ludo evaluate`` and ``ludo agents``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ludo_env.agents import strength
from ludo_env.agents.base import SPECS, Agent, make_agent
from ludo_env.arena.match import play_match
from ludo_env.arena.report import aligned, summary, table
from ludo_env.cli.common import (
    BadArgumentsError,
    add_json,
    add_options_of_rules,
    add_seed_and_json,
    checked,
    progress,
    rules_of,
)
from ludo_env.core import checks


def add_evaluate(commands: Any) -> None:
    """Add ``ludo evaluate``."""
    text = "play an agent against others, every agent in every seat equally often"
    parser = commands.add_parser("evaluate", help=text, description=text)
    parser.add_argument("agent", help=f"one of: {', '.join(SPECS)}")
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="AGENT",
        default=["random"],
        help="one agent for all other seats, or one for each in turn order (default: random)",
    )
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    parser.add_argument(
        "--games", type=int, default=2000, help="a multiple of the players (default: 2000)"
    )
    parser.add_argument("--pawns", type=int, default=4, help="1 to 4 each (default: 4)")
    add_options_of_rules(parser)
    add_seed_and_json(parser, "games and agents")
    parser.set_defaults(run=_evaluate)


def _evaluate(options: argparse.Namespace) -> None:
    rules = rules_of(options, options.players)
    seed = checked(checks.seed_or_fresh, options.seed)
    if options.games < rules.num_players or options.games % rules.num_players:
        raise BadArgumentsError(
            f"--games must be a positive multiple of {rules.num_players} players, "
            f"got {options.games}"
        )
    specs = [options.agent, *_opponents(options.against, rules.num_players - 1)]
    agents: list[Agent] = [checked(make_agent, spec, seed=i) for i, spec in enumerate(specs)]
    with progress(options.games, "games") as advance:
        match = play_match(
            agents, games=options.games, rules=rules, seed=seed, names=specs, progress=advance
        )
    results = summary(match)
    print(json.dumps(results, indent=2) if options.json else _evaluation(results))


def _opponents(specs: list[str], needed: int) -> list[str]:
    if len(specs) == 1:
        return specs * needed
    if len(specs) != needed:
        raise BadArgumentsError(f"--against takes 1 or {needed} agents, got {len(specs)}")
    return specs


def _evaluation(results: dict[str, Any]) -> str:
    return f"{table(results)}\n\n{results['games']} independent games, seed {results['seed']}"


def add_agents(commands: Any) -> None:
    """Add ``ludo agents``."""
    text = "list the agents there are"
    parser = commands.add_parser("agents", help=text, description=text)
    add_json(parser)
    parser.set_defaults(run=_agents)


def _agents(options: argparse.Namespace) -> None:
    measured = strength.measured()
    if options.json:
        print(json.dumps({"specs": SPECS, "strength": measured}, indent=2))
        return
    print(aligned([("agent", "plays"), *SPECS.items()]))
    print()
    print(aligned(strength.table(measured)))
    print(f"\nwin rates over {measured['games']} games each (seed {measured['seed']}), ± 95 %")
