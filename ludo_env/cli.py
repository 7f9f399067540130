"""The command ``ludo``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import ludo_env
from ludo_env.agents.base import SPECS, Agent, make_agent
from ludo_env.arena.match import play_match
from ludo_env.arena.report import aligned, summary, table
from ludo_env.core import checks
from ludo_env.core.rules import Rules

DONE, FAILED, BAD_ARGUMENTS = 0, 1, 2


class BadArgumentsError(Exception):
    """The command line asks for something that cannot be."""


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Leave with one line on stderr."""
        raise BadArgumentsError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 done, 1 failed, 2 bad arguments.
    """
    if "" not in sys.path:
        sys.path.append("")  # the user's own agents, as MODULE:ATTRIBUTE
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except BadArgumentsError as error:
        return _fail(BAD_ARGUMENTS, str(error))
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        return _fail(FAILED, "interrupted")
    except Exception as error:
        return _fail(FAILED, f"{error}" if isinstance(error, ValueError) else repr(error))
    return DONE


def _fail(code: int, message: str) -> int:
    print(f"ludo: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _parser() -> Parser:
    parser = Parser(prog="ludo", description=ludo_env.__doc__)
    parser.add_argument("--version", action="version", version=ludo_env.__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_evaluate(commands)
    _add_agents(commands)
    _add_bench(commands)
    return parser


def _add_evaluate(commands: Any) -> None:
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
    for name, default in (
        ("mandatory-capture", True),
        ("home-jumps", False),
        ("pawn-on-start", False),
    ):
        action = argparse.BooleanOptionalAction
        parser.add_argument(
            f"--{name}", action=action, default=default, help="a rule (%(default)s)"
        )
    _add_seed_and_json(parser, "games and agents")
    parser.set_defaults(run=_evaluate)


def _add_seed_and_json(parser: argparse.ArgumentParser, of_what: str) -> None:
    parser.add_argument(
        "--seed", type=int, default=None, help=f"seed of {of_what} (default: fresh)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _evaluate(options: argparse.Namespace) -> None:
    rules = _checked(
        Rules,
        options.players,
        options.pawns,
        options.mandatory_capture,
        options.home_jumps,
        options.pawn_on_start,
    )
    seed = _checked(checks.seed_or_fresh, options.seed)
    if options.games < rules.num_players or options.games % rules.num_players:
        raise BadArgumentsError(
            f"--games must be a positive multiple of {rules.num_players} players, "
            f"got {options.games}"
        )
    specs = [options.agent, *_opponents(options.against, rules.num_players - 1)]
    agents: list[Agent] = [_checked(make_agent, spec, seed=i) for i, spec in enumerate(specs)]
    with _progress(options.games, "games") as advance:
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


def _add_agents(commands: Any) -> None:
    text = "list the agents there are"
    parser = commands.add_parser("agents", help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_agents)


def _agents(options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(SPECS, indent=2))
    else:
        print(aligned([("agent", "plays"), *SPECS.items()]))


def _add_bench(commands: Any) -> None:
    text = "measure the package's speed, as ratios to yardsticks run in between (four minutes)"
    parser = commands.add_parser("bench", help=text, description=text)
    parser.add_argument("--repeats", type=int, default=5, help="repetitions (default: 5)")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="of each measurement (default: 1)"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="measure only what has TEXT in its name"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> None:
    from ludo_env.bench import run_benchmarks
    from ludo_env.bench.report import benchmark_table

    if options.repeats < 1 or not 0 < options.seconds <= 60:
        raise BadArgumentsError("--repeats must be at least 1, --seconds above 0 and at most 60")
    results = _checked(
        run_benchmarks, options.repeats, options.seconds, report=_say, only=options.only
    )
    print(json.dumps(results, indent=2) if options.json else benchmark_table(results))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _checked(make: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What ``make`` makes of the user's arguments; its complaint is about them."""
    try:
        return make(*arguments, **keywords)
    except ValueError as error:
        raise BadArgumentsError(str(error)) from error


class _progress:  # noqa: N801 (used as a function)
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


if __name__ == "__main__":
    sys.exit(main())
