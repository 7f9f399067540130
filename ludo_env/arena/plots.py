"""Pictures of results; they need matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ludo_env.arena.results import Results
from ludo_env.arena.stats import block_means, confidence_sequence
from ludo_env.render import plots
from ludo_env.render.plots import GREY, Figure, draw_band, line_style, new_figure

_DOTS = 400  # points of a line, at most


def pictures(results: Results, found: Mapping[str, Any]) -> dict[str, Figure]:
    """All pictures that there are of some results, by name.

    Args:
        results: At least one game.
        found: Their `summary`.
    """
    drawn = {"win_rates": win_rates(results, found), "over_games": over_games(results)}
    if "ratings" in found:
        drawn["cross_table"] = cross_table(found)
        if "points" in found["ratings"]:
            drawn["ratings"] = ratings(found)
    return drawn


def win_rates(results: Results, found: Mapping[str, Any]) -> Figure:
    """Each agent's win rate with its interval, beside what chance would give."""
    agents = found["agents"]
    figure, axes = new_figure(0.45 * len(agents) + 1.2)
    rows = range(len(agents))[::-1]
    for row, agent in zip(rows, agents, strict=True):
        low, high = agent["win_rate_95"]
        rate = agent["win_rate"]
        if None not in (rate, low, high):
            _with_interval(axes, row, rate, low, high)
    axes.axvline(1 / results.rules.num_players, color=GREY, linestyle=":", label="chance")
    axes.set_yticks(list(rows), [agent["name"] for agent in agents])
    axes.set(xlabel="win rate (95 %)", ylim=(-0.6, len(agents) - 0.4))
    axes.legend(loc="lower right", fontsize=8)
    return figure


def over_games(results: Results) -> Figure:
    """How win rates settle; in a match with intervals that hold whenever one looks."""
    figure, axes = new_figure(4.0)
    for number, name in enumerate(results.names):
        rows, players = results.seats_of(number)
        if not len(rows):
            continue
        means = block_means(results.places[rows, players] == 1, results.blocks[rows])
        games = np.arange(1, len(means) + 1) * results.rules.num_players
        rates = np.cumsum(means) / np.arange(1, len(means) + 1)
        some = np.unique(np.linspace(0, len(means) - 1, _DOTS).astype(int))
        axes.plot(games[some], rates[some], label=name, markevery=0.2, **line_style(number))
        if len(results.schedule.tables) == 1:  # else blocks differ in what is expected of them
            low, high = confidence_sequence(means)
            draw_band(axes, number, games[some], low[some], high[some])
    axes.set(xlabel="games of the agent", ylabel="win rate", ylim=(0, 1))
    axes.legend(fontsize=8)
    return figure


def ratings(found: Mapping[str, Any]) -> Figure:
    """The ratings, the strongest on top."""
    points, intervals = found["ratings"]["points"], found["ratings"]["points_95"]
    order = sorted(range(len(points)), key=points.__getitem__)
    figure, axes = new_figure(0.4 * len(points) + 1.2)
    for row, k in enumerate(order):
        low, high = intervals[k]
        _with_interval(axes, row, points[k], low, high)
    axes.set_yticks(range(len(order)), [found["agents"][k]["name"] for k in order])
    axes.set(xlabel=f"points (400 are odds of ten to one; {found['ratings']['anchor']} has 0)")
    return figure


def cross_table(found: Mapping[str, Any]) -> Figure:
    """How often each agent comes before each other, as a heat map with the numbers in it."""
    names = [agent["name"] for agent in found["agents"]]
    shares = np.array(
        [[np.nan if share is None else share for share in row] for row in found["superiority"]]
    )
    size = 0.55 * len(names) + 1.8
    figure, axes = new_figure(size, size + 1.0)
    axes.imshow(shares, cmap="PuOr", vmin=0, vmax=1)
    for i, j in np.argwhere(~np.isnan(shares)).tolist():
        strong = abs(shares[i, j] - 0.5) > 0.3
        color = "white" if strong else "black"
        axes.text(j, i, f"{shares[i, j]:.2f}", ha="center", va="center", color=color, fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title("share of games in which the row's agent comes before the column's", fontsize=9)
    axes.grid(visible=False)
    return figure


def _with_interval(axes: Any, row: int, value: float, low: float, high: float) -> None:
    reach = [[max(0.0, value - low)], [max(0.0, high - value)]]
    axes.errorbar([value], [row], xerr=reach, fmt="o", color="black", capsize=3)


def save(drawn: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write pictures as PNG files, named after themselves; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in drawn.items():
        paths.append(folder / f"{name}.png")
        plots.save(figure, paths[-1])
    return paths
