"""``ludo evaluate`` and ``ludo agents``."""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ludo_env.agents import strength
from ludo_env.agents.base import SPECS, Agent, make_agent
from ludo_env.arena.match import play
from ludo_env.arena.playing import AgentFaultError
from ludo_env.arena.report import aligned, behaviour_rows, summary, table
from ludo_env.arena.results import Results
from ludo_env.arena.schedule import Schedule
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
from ludo_env.core.files import write_whole
from ludo_env.core.rules import Rules
from ludo_env.solution import Solution
from ludo_env.tables import require_target


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
    parser.add_argument(
        "--round-robin",
        action="store_true",
        help="a tournament: any number of agents, all choices of as many as players meet",
    )
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4 (default: 2)")
    parser.add_argument(
        "--games", type=int, default=2000, help="in all, a multiple of the players (default: 2000)"
    )
    parser.add_argument("--pawns", type=int, default=4, help="1 to 4 each (default: 4)")
    add_options_of_rules(parser)
    add_seed_and_json(parser, "games and agents")
    _add_options_of_matches(parser)
    parser.set_defaults(run=_evaluate)


def _add_options_of_matches(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--common-dice",
        action="store_true",
        help="the same dice in all the games through which agents change seats",
    )
    parser.add_argument(
        "--until",
        type=float,
        metavar="HALF_WIDTH",
        help="stop once the agent's win rate is known so well, at --games at the latest",
    )
    parser.add_argument(
        "--max-rolls", type=int, help="cut games after so many rolls (default: no limit)"
    )
    parser.add_argument(
        "--forfeit", action="store_true", help="an agent that fails loses that game, no more"
    )
    parser.add_argument(
        "--max-faults", type=int, default=10, help="then it is not asked any more (default: 10)"
    )
    parser.add_argument("--output", metavar="FILE", help="note every game there, in JSON lines")
    parser.add_argument("--resume", action="store_true", help="go on with the match of --output")
    parser.add_argument("--processes", type=int, default=1, help="that share the games")
    parser.add_argument(
        "--solution", metavar="PATH", help="of the games, to tell what agents give away"
    )
    parser.add_argument("--csv", metavar="FILE", help="write a row for each player of each game")
    parser.add_argument("--plots", metavar="FOLDER", help="write pictures (PNG)")
    parser.add_argument("--report", metavar="FILE", help="write one HTML page with all of it")
    parser.add_argument("--behaviour", action="store_true", help="also tell how agents play")


def _evaluate(options: argparse.Namespace) -> None:
    rules = rules_of(options, options.players)
    seed = checked(checks.seed_or_fresh, options.seed)
    specs = [options.agent, *options.against]
    if not options.round_robin:
        specs = [options.agent, *_opponents(options.against, rules.num_players - 1)]
    agents: list[Agent] = [checked(make_agent, spec, seed=i) for i, spec in enumerate(specs)]
    solution = None if options.solution is None else checked(Solution.load, options.solution)
    if solution is not None and not solution.covers(rules):
        raise BadArgumentsError(f"--solution is of {solution.rules}, the games of {rules}")
    checked(Schedule, rules, len(agents), options.games, seed, options.common_dice)
    _check_targets(options)
    with progress(options.games, "games") as advance:
        results = _played(options, agents, rules, seed, specs, advance)
    found = summary(results, solution)
    print(json.dumps(found, indent=2) if options.json else _evaluation(found, options.behaviour))
    _write_files(options, results, found)
    if not results.is_complete and results.until is None:
        raise ValueError(f"interrupted after {len(results)} of {options.games} games")


def _played(
    options: argparse.Namespace,
    agents: list[Agent],
    rules: Rules,
    seed: int,
    names: list[str],
    advance: Callable[[int], None],
) -> Results:
    try:
        return play(
            agents,
            games=options.games,
            rules=rules,
            seed=seed,
            names=names,
            common_dice=options.common_dice,
            until=options.until,
            max_rolls=options.max_rolls,
            forfeit=options.forfeit,
            max_faults=options.max_faults,
            file=options.output,
            resume=options.resume,
            processes=options.processes,
            progress=advance,
        )
    except AgentFaultError:
        raise
    except ValueError as error:
        raise BadArgumentsError(str(error)) from error


def _check_targets(options: argparse.Namespace) -> None:
    """Refuse what could not be written in the end, before any game is played."""
    for flag in ("csv", "report"):
        target = getattr(options, flag)
        if target is not None:
            checked(require_target, f"--{flag}", Path(target))
    if options.plots is not None and not Path(options.plots).is_dir():
        try:
            Path(options.plots).mkdir()
        except OSError as error:
            raise BadArgumentsError(f"--plots {options.plots!r}: {error.strerror}") from error
    if options.plots is not None or options.report is not None:
        try:
            import ludo_env.arena.plots  # noqa: F401
        except ImportError as error:
            raise BadArgumentsError(str(error)) from error


def _write_files(options: argparse.Namespace, results: Results, found: dict[str, Any]) -> None:
    """Write what else was asked for: rows, pictures, a page."""
    if options.csv is not None:
        with Path(options.csv).open("w", newline="", encoding="utf-8") as file:
            rows = results.rows()
            writer = csv.DictWriter(file, list(rows[0]) if rows else [])
            writer.writeheader()
            writer.writerows(rows)
    if options.plots is not None:
        from ludo_env.arena import plots

        plots.save(plots.pictures(results, found), Path(options.plots))
    if options.report is not None:
        from ludo_env.arena.page import page

        command = shlex.join(["ludo", *sys.argv[1:]])
        write_whole(Path(options.report), page(results, found, command).encode())


def _opponents(specs: list[str], needed: int) -> list[str]:
    if len(specs) == 1:
        return specs * needed
    if len(specs) != needed:
        raise BadArgumentsError(f"--against takes 1 or {needed} agents, got {len(specs)}")
    return specs


def _evaluation(found: dict[str, Any], with_behaviour: bool) -> str:
    dice = "games by blocks of common dice" if found["common_dice"] else "independent games"
    parts = [table(found)]
    if with_behaviour or "regret_per_choice" in found["agents"][0]["behaviour"]:
        parts.append(aligned(behaviour_rows(found)))
    lines = [f"{found['games']} {dice}, seed {found['seed']}"]
    if found["unfinished"]:
        lines.append(f"{found['unfinished']} games were cut, and are nobody's wins")
    if "sequential" in found:
        low, high = found["sequential"]["win_rate_95"]
        name = found["agents"][0]["name"]
        lines.append(f"{name} wins {low:.4f} - {high:.4f} (95 %, however often one looks)")
    lines += [
        f"{fault['agent']} failed in game {fault['game']} at {fault['position']}: {fault['what']}"
        for fault in found["faults"]
    ]
    return "\n\n".join([*parts, "\n".join(lines)])


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
