import shutil

import pytest

from ludo_env import bench
from ludo_env.bench import shares
from ludo_env.bench.report import benchmark_table
from ludo_env.bench.tasks import Rollout, Task, TaskUnavailableError, Yardstick


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
    monkeypatch.setattr(bench, "QUANTITIES", ())
    results = bench.run_benchmarks(3, 0.01, report=lambda _: None)
    assert results["results"][0]["ratio"] == 1.5
    assert results["results"][0]["unit"] == "steps/s"
    assert "1.50" in benchmark_table(results)
    assert results["machine"]["numba"] in benchmark_table(results)


def test_without_its_yardstick_a_task_is_measured_all_the_same(monkeypatch):
    comparison = bench.Comparison("work", "steps", lambda: Counter(30), missing)
    monkeypatch.setattr(bench, "COMPARISONS", (comparison,))
    monkeypatch.setattr(bench, "QUANTITIES", ())
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


def test_a_rollout_tells_its_rolls_and_games_beside_its_decisions():
    task = Rollout(players=2, games=64)
    assert task.chunk() == 64 * task.steps
    assert task.also["rolls"] == pytest.approx(214.1 / 179.9, rel=0.01)
    assert task.also["games"] == pytest.approx(1 / 179.9, rel=0.05)


def test_what_else_was_done_stands_in_the_results_as_rates(monkeypatch):
    counter = Counter(30)
    counter.also = {"rolls": 1.5}
    comparison = bench.Comparison("work", "steps", lambda: counter, missing)
    monkeypatch.setattr(bench, "COMPARISONS", (comparison,))
    results = bench.run_benchmarks(1, 0.01, report=lambda _: None, only="work")
    assert results["results"][0]["also"] == {"rolls/s": 45.0}
    assert "45 rolls/s" in benchmark_table(results)


def test_only_what_has_the_text_in_its_name_is_measured():
    results = bench.run_benchmarks(1, 0.01, report=lambda _: None, only="memory")
    assert not results["results"]
    assert [quantity["name"] for quantity in results["quantities"]] == [
        "memory of a game in a batch"
    ]
    assert "memory of a game in a batch: 64 bytes" in benchmark_table(results)


def test_a_text_that_is_in_no_name_is_refused_with_the_names():
    with pytest.raises(ValueError, match=r"only .*'nothing'.*rollout.*memory"):
        bench.run_benchmarks(1, 0.01, report=lambda _: None, only="nothing")


def test_a_quantity_whose_package_is_missing_is_told(monkeypatch):
    def missing_package(seconds):
        raise TaskUnavailableError("training needs nothing")

    monkeypatch.setattr(bench, "COMPARISONS", ())
    monkeypatch.setattr(bench, "QUANTITIES", (bench.Quantity("share", "of all", missing_package),))
    results = bench.run_benchmarks(2, 0.01, report=lambda _: None)
    assert results["quantities"][0]["value"] is None
    assert "share: not measured: training needs nothing" in benchmark_table(results)


def test_the_environments_share_is_a_part_of_the_time():
    pytest.importorskip("sb3_contrib")
    assert 0.001 < shares.environment_share(0.01) < 0.9


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_several_yardsticks_run_at_once_and_add_up(tmp_path):
    yardstick = Yardstick(players=2, mode="scalar", games=64, processes=3)
    stand_in = tmp_path / "yardstick"
    stand_in.write_text("#!/bin/sh\necho '{\"decisions_per_second\": 5}'\n")
    stand_in.chmod(0o755)
    yardstick.program = str(stand_in)
    assert yardstick.rate(0.01) == 15
