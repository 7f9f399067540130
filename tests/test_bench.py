import shutil

import pytest

from ludo_env import bench
from ludo_env.bench.report import benchmark_table
from ludo_env.bench.tasks import Task, TaskUnavailableError, Yardstick


class Counter(Task):
    def __init__(self, amount):
        self.amount = amount

    def chunk(self):
        return self.amount

    def rate(self, seconds):
        return float(self.amount)

    def __str__(self):
        return "counter"


def missing():
    raise TaskUnavailableError("no such thing here")


def test_results_are_ratios_of_what_was_measured_in_turn(monkeypatch):
    comparison = bench.Comparison("work", "steps", lambda: Counter(30), lambda: Counter(20))
    monkeypatch.setattr(bench, "COMPARISONS", (comparison,))
    results = bench.run_benchmarks(3, 0.01, report=lambda _: None)
    assert results["results"][0]["ratio"] == 1.5
    assert results["results"][0]["unit"] == "steps/s"
    assert "1.50" in benchmark_table(results)
    assert results["machine"]["numba"] in benchmark_table(results)


def test_without_its_yardstick_a_task_is_measured_all_the_same(monkeypatch):
    comparison = bench.Comparison("work", "steps", lambda: Counter(30), missing)
    monkeypatch.setattr(bench, "COMPARISONS", (comparison,))
    results = bench.run_benchmarks(1, 0.01, report=lambda _: None)
    assert results["results"][0]["ours"] == 30
    assert results["results"][0]["ratio"] is None
    assert "no such thing here" in benchmark_table(results)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("mode", ["scalar", "scalarobs"])
def test_the_yardstick_compiles_and_plays(mode):
    assert Yardstick(players=3, mode=mode, games=64).rate(0.05) > 0


@pytest.mark.parametrize("comparison", bench.COMPARISONS, ids=lambda c: c.name)
def test_our_side_of_every_comparison_runs(comparison):
    assert comparison.ours().chunk() > 0
