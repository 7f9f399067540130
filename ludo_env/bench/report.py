"""Benchmark results as a table."""

from __future__ import annotations

from typing import Any

from ludo_env.arena.report import aligned


def benchmark_table(results: dict[str, Any]) -> str:
    """What was measured, on what, and the ratios, as text."""
    rows = [("measured", "ours", "yardstick", "which is", "ratio", "range")]
    for result in results["results"]:
        rows.append(
            (
                result["name"],
                f"{result['ours']:,.0f} {result['unit']}",
                f"{result['yardstick']:,.0f}" if result["yardstick"] else "-",
                result["yardstick_name"],
                f"{result['ratio']:.2f}" if result["ratio"] else "-",
                "{:.2f} - {:.2f}".format(*result["ratio_range"]) if result["ratio_range"] else "",
            )
        )
    lines = [aligned(rows)] if results["results"] else []
    lines += [_also(result) for result in results["results"] if result["also"]]
    lines += [_alone(quantity) for quantity in results["quantities"]]
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    medians = f"medians; {results['repeats']} × {results['seconds']:g} s for each side in turn"
    return "\n".join([*lines, "", f"{medians}; {machine}"])


def _also(result: dict[str, Any]) -> str:
    rates = ", ".join(f"{rate:,.0f} {unit}" for unit, rate in result["also"].items())
    return f"{result['name']}: also {rates}"


def _alone(quantity: dict[str, Any]) -> str:
    if quantity["value"] is None:
        return f"{quantity['name']}: not measured: {quantity['missing']}"
    low, high = quantity["range"]
    return (
        f"{quantity['name']}: {quantity['value']:.3g} {quantity['unit']} ({low:.3g} - {high:.3g})"
    )
