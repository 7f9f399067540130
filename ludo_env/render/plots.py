"""One style for all plots, readable in black and white; needs matplotlib.

Lines differ by dash and marker and not by colour alone; the first four have the players' colours.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludo_env.core.files import write_whole
from ludo_env.render.drawing import COLOURS, INK

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'ludo_env[train]'") from error

GREY = "0.35"
"""What marks chance, and other things that nobody has played."""

_LINE_COLOURS = (*COLOURS, "#5b5148", "#7a6a00")
_DASHES = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1)), (0, (9, 3)))
_MARKERS = "osD^vP"


def new_figure(height: float, width: float = 7.0) -> tuple[Figure, Any]:
    """A figure of so many inches, and its axes."""
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def line_style(number: int) -> dict[str, Any]:
    """How the line of that number is drawn, for matplotlib's ``plot``."""
    return {
        "color": _LINE_COLOURS[number % len(_LINE_COLOURS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": 4,
        "linewidth": 1.3,
    }


def draw_band(axes: Any, number: int, at: Any, low: Any, high: Any) -> None:
    """The interval around the line of that number."""
    axes.fill_between(at, low, high, color=line_style(number)["color"], alpha=0.13, linewidth=0)


def chances(
    names: Sequence[str],
    shares: NDArray[np.float64],
    mistakes: Iterable[tuple[int, int]],
    judge: str,
) -> Figure:
    """Every player's chance to win over a game.

    Args:
        names: The players' names.
        shares: Their chances, float64 (decisions, P).
        mistakes: Decisions that cost something, and by which player; circles mark them.
        judge: Who says so.
    """
    figure, axes = new_figure(3.6)
    for player, name in enumerate(names):
        every = max(1, len(shares) // 12)
        axes.plot(
            shares[:, player], label=f"{name} ({player})", markevery=every, **line_style(player)
        )
    for decision, player in mistakes:
        axes.plot([decision], [shares[decision, player]], "o", color=INK, mfc="white", markersize=6)
    axes.set(xlabel="decision", ylabel=f"chance to win, by {judge}", ylim=(-0.02, 1.02))
    axes.legend(fontsize=8, loc="upper left")
    return figure


def png(figure: Figure) -> bytes:
    """A figure as a PNG file's content."""
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def save(figure: Figure, path: Any) -> None:
    """Write a figure as a PNG file, whole or not at all.

    Raises:
        ValueError: It cannot be written.
    """
    write_whole(path, png(figure))
