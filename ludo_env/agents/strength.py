"""How strong the package's agents were measured to be: `python -m training.strength` writes it."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

FILE = "strength.json"

KINDS = ((2, "random"), (2, "advance"), (4, "random"), (4, "advance"))
"""What is measured: numbers of players, and who fills all other seats."""


def measured() -> dict[str, Any]:
    """What was measured: ``games`` of each kind, ``seed``, ``version``, ``agents``.

    Each agent has a win rate and its 95 % interval, ``[rate, low, high]``, for each of `KINDS`.
    """
    return json.loads(resources.files("ludo_env.agents").joinpath(FILE).read_text())


def table(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """The rows of a table, its head first."""
    kinds = [_named(players, against) for players, against in KINDS]
    rows = [("agent", *kinds)]
    for agent, own in results["agents"].items():
        rows.append((agent, *(_shown(own[kind]) for kind in kinds)))
    return rows


def _named(players: int, against: str) -> str:
    seats = {2: "", 4: "three "}[players]
    return f"{players} players, {seats}{against}"


def _shown(result: list[float]) -> str:
    rate, low, high = result
    return f"{rate:.3f} ± {(high - low) / 2:.3f}"


def kind_names() -> list[str]:
    """The names of `KINDS`."""
    return [_named(players, against) for players, against in KINDS]
