"""Measure how strong the package's agents are, for `ludo agents` and the page on agents.

    python -m training.strength
    python -m training.strength td expectimax --games 2000 --seed 1

Writes `ludo_env/agents/strength.json` and the table of `docs/agents.md`; agents that are not named
keep what was measured before, if games and seed are the same.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

import ludo_env
from ludo_env import Rules
from ludo_env.agents import strength
from ludo_env.agents.base import make_agent
from ludo_env.core.scripted import POLICIES
from training import evaluation, run_folder
from training.config import BAD_ARGUMENTS, fail
from training.stopping import INTERRUPTED

AGENTS = (*POLICIES, "expectimax", "td")
ROOT = Path(ludo_env.__file__).parent.parent
PAGE = ROOT / "docs" / "agents.md"
MARKS = "<!-- strength -->", "<!-- end of strength -->"


def measure(agents: list[str], games: int, seed: int) -> dict[str, Any]:
    """Win rates of agents in all kinds of games, as `strength.measured` gives them."""
    total = len(agents) * len(strength.KINDS) * games
    found: dict[str, dict[str, list[float]]] = {}
    with tqdm(total=total, unit=" games", mininterval=1) as bar:
        for agent in agents:
            found[agent] = {}
            for name, (players, against) in zip(strength.kind_names(), strength.KINDS, strict=True):
                result = evaluation.evaluate(
                    make_agent(agent, seed=0),
                    [against],
                    games=games,
                    rules=Rules(num_players=players),
                    seed=seed,
                    progress=bar.update,
                )[against]["agents"][0]
                numbers = [result["win_rate"], *result["win_rate_95"]]
                found[agent][name] = [round(number, 5) for number in numbers]
    return found


def read_page() -> str:
    """The page; leaves where it has no place for the table."""
    page = PAGE.read_text() if PAGE.exists() else ""
    if any(page.count(mark) != 1 for mark in MARKS):
        fail(BAD_ARGUMENTS, f"{PAGE} must be there and have {' and '.join(MARKS)} once")
    return page


def with_table(page: str, results: dict[str, Any]) -> str:
    """A page with its table made anew."""
    first, last = MARKS
    between = f"{first}\n{markdown(results)}\n{last}"
    return re.sub(f"{first}.*{last}", between, page, flags=re.DOTALL)


def markdown(results: dict[str, Any]) -> str:
    """The table of the page."""
    head, *rows = strength.table(results)
    lines = [head, ("---",) * len(head)] + [(f"`{agent}`", *rest) for agent, *rest in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    """Run the command. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m training.strength", description=__doc__)
    parser.add_argument("agents", nargs="*", help=f"of {', '.join(AGENTS)} (default: all)")
    parser.add_argument("--games", type=int, default=20_000, help="a multiple of 4")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    unknown = [name for name in options.agents if name not in AGENTS]
    if unknown:
        fail(BAD_ARGUMENTS, f"agents are {', '.join(AGENTS)}; got {', '.join(unknown)}")
    if options.games < 4 or options.games % 4:
        fail(BAD_ARGUMENTS, f"games must be a multiple of 4, got {options.games}")
    if not 0 <= options.seed < 2**63:
        fail(BAD_ARGUMENTS, f"seed must be from 0 to 2**63 - 1, got {options.seed}")
    page = read_page()
    file = ROOT / "ludo_env" / "agents" / strength.FILE
    about = {"games": options.games, "seed": options.seed}
    known = strength.measured() if file.exists() else {}
    kept = known.get("agents", {}) if about.items() <= known.items() else {}
    try:
        found = measure(options.agents or list(AGENTS), options.games, options.seed)
    except KeyboardInterrupt:
        fail(INTERRUPTED, "interrupted; nothing was written")
    agents = {name: (kept | found)[name] for name in AGENTS if name in kept | found}
    results = {**about, "version": ludo_env.__version__, "agents": agents}
    page = with_table(page, results)
    run_folder.write_json(results, file)
    partial = PAGE.with_name(PAGE.name + ".partial")
    partial.write_text(page)
    os.replace(partial, PAGE)
    print(markdown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
