"""``ludo bench``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ludo_env.cli.common import BadArgumentsError, add_json, checked, say


def add_bench(commands: Any) -> None:
    """Add ``ludo bench``."""
    text = "measure the package's speed, as ratios to yardsticks run in between (four minutes)"
    parser = commands.add_parser("bench", help=text, description=text)
    parser.add_argument("--repeats", type=int, default=5, help="repetitions (default: 5)")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="of each measurement (default: 1)"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="measure only what has TEXT in its name"
    )
    add_json(parser)
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> None:
    from ludo_env.bench import run_benchmarks
    from ludo_env.bench.report import benchmark_table

    if options.repeats < 1 or not 0 < options.seconds <= 60:
        raise BadArgumentsError("--repeats must be at least 1, --seconds above 0 and at most 60")
    results = checked(
        run_benchmarks, options.repeats, options.seconds, report=say, only=options.only
    )
    print(json.dumps(results, indent=2) if options.json else benchmark_table(results))
