"""The agent that learned the chances by playing itself; its weights come with the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from ludo_env.agents.expectimax import Expectimax
from ludo_env.agents.network import Network


class TD(Expectimax):
    """Looks ahead with a learned network (see `Expectimax`).

    Args:
        depth: Choices to look ahead.
        path: A file that ``python -m training.td`` wrote; None for the package's own.

    Raises:
        ValueError: The depth is out of range, or the file cannot be read.
    """

    def __init__(self, depth: int = 1, path: str | Path | None = None) -> None:
        self._path = path
        network = _own() if path is None else Network.load(path)
        name = "td" if path is None else f"td:{path}"
        super().__init__(depth, network, name if depth == 1 else f"{name}:{depth}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.depth, self._path)


def _own() -> Network:
    with resources.files("ludo_env.agents").joinpath("td.npz").open("rb") as file:
        return Network.load(file)
