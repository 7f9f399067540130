"""The learning curve: points measured while training, and their picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ludo_env.render.plots import GREY, draw_band, line_style, new_figure, save


def draw(
    curves: Mapping[int, Sequence[Mapping[str, Any]]],
    chances: Sequence[float],
    path: Path,
    steps: str = "decisions of the learner",
) -> None:
    """Draw win rates over steps, one line for each opponent and seed.

    Args:
        curves: For each seed its points: ``steps``, and by opponent ``win_rate`` and ``interval``.
        chances: Win rates to be drawn as chance.
        path: The PNG to write.
        steps: What a step is.
    """
    figure, axes = new_figure(4.2)
    opponents = sorted(
        {name for points in curves.values() for p in points for name in p["against"]}
    )
    for number, opponent in enumerate(opponents):
        for i, (_, points) in enumerate(sorted(curves.items())):
            at = [point["steps"] for point in points]
            rates = [point["against"][opponent]["win_rate"] for point in points]
            low = [point["against"][opponent]["interval"][0] for point in points]
            high = [point["against"][opponent]["interval"][1] for point in points]
            label = f"against {opponent}" if i == 0 else None
            axes.plot(at, rates, label=label, **line_style(number))
            if len(curves) == 1:
                draw_band(axes, number, at, low, high)
    for i, chance in enumerate(chances):
        label = None if i else "chance"
        axes.axhline(chance, color=GREY, linestyle=":", label=label)
    axes.set(xlabel=steps, ylabel="win rate", ylim=(0, 1))
    axes.set_title(f"{len(curves)} training seed{'s' if len(curves) > 1 else ''}", fontsize=10)
    axes.legend(loc="lower right", fontsize=8)
    save(figure, path)
