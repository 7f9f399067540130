"""Results as one HTML page that needs nothing else, to be sent to somebody."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from matplotlib.figure import Figure

import ludo_env
from ludo_env.arena import plots
from ludo_env.arena.report import behaviour_rows, ratings_rows, win_rows
from ludo_env.arena.results import Results

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; white-space: nowrap; }
th { border-bottom: 2px solid; } td { border-bottom: 1px solid #8885; }
figure { margin: 1rem 0; background: white; padding: .5rem; }
figure svg { width: 100%; height: auto; } figcaption { color: black; }
code { overflow-wrap: anywhere; }
"""

_CAPTIONS = {
    "win_rates": "Win rates with 95 % intervals.",
    "over_games": "Win rates over games; bands, in a match, hold however often one looks (95 %).",
    "cross_table": "Who comes before whom.",
    "ratings": "Ratings with 95 % intervals.",
}


def page(results: Results, found: Mapping[str, Any], command: str) -> str:
    """The page.

    Args:
        results: At least one game.
        found: Their `summary`.
        command: What made them.
    """
    drawn = plots.pictures(results, found)
    title = " – ".join(results.names)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_what(found))}</p>",
        _table(win_rows(found)),
        *(_picture(name, figure) for name, figure in drawn.items()),
    ]
    if "points" in found.get("ratings", ()):
        parts += ["<h2>Ratings</h2>", _table(ratings_rows(found))]
    parts += ["<h2>How they play</h2>", _table(behaviour_rows(found))]
    if found["faults"]:
        parts += ["<h2>Faults</h2>", _table(_fault_rows(found))]
    parts.append(f"<p>Made by ludo_env {ludo_env.__version__}: <code>{escape(command)}</code></p>")
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    lines = ["<!DOCTYPE html>", '<html lang="en">', f"<head>{head}{view}</head>", "<body>", *parts]
    return "\n".join([*lines, "</body>", "</html>", ""])


def _what(found: Mapping[str, Any]) -> str:
    rules = ", ".join(f"{name} {value}" for name, value in found["rules"].items())
    dice = "the same dice in each block of games" if found["common_dice"] else "independent games"
    cut = f", {found['unfinished']} of them cut" if found["unfinished"] else ""
    return f"{found['games']} games{cut}; {dice}; seed {found['seed']}; {rules}."


def _fault_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    names = ("agent", "game", "position", "what")
    return [names, *(tuple(str(fault[name]) for name in names) for fault in found["faults"])]


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = ["".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _picture(name: str, figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    drawing = text.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    caption = escape(_CAPTIONS[name])
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"
