"""What is said of agents: the list, the measured table, and the page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ludo_env.agents import strength
from ludo_env.agents.base import SPECS
from ludo_env.cli import main
from training import strength as measuring

PAGE = Path("docs/agents.md").read_text()


def test_the_page_has_the_measured_table():
    assert measuring.with_table(PAGE, strength.measured()) == PAGE


def test_all_agents_that_need_no_file_are_measured():
    measured = strength.measured()
    assert list(measured["agents"]) == list(measuring.AGENTS)
    assert measured["games"] >= 20_000
    named = {spec.partition("[")[0].partition(":")[0] for spec in SPECS}
    assert set(measuring.AGENTS) == named - {"sb3", "exact", "MODULE"}


def test_the_page_names_every_spec():
    ladder = PAGE[: PAGE.index("## How strong")]
    assert set(re.findall(r"^\| `([^`]+)` \|", ladder, re.MULTILINE)) == set(SPECS)


def test_agents_prints_strength(capsys):
    assert main(["agents"]) == 0
    printed = capsys.readouterr().out
    for spec in SPECS:
        assert spec in printed
    rate = strength.measured()["agents"]["td"]["2 players, random"][0]
    assert f"{rate:.3f} ±" in printed
    assert main(["agents", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["specs"] == dict(SPECS)
    assert told["strength"] == strength.measured()


def test_what_is_measured_is_a_win_rate_of_rotated_seats():
    found = measuring.measure(["random"], games=2000, seed=3)["random"]
    assert list(found) == strength.kind_names()
    for kind, chance in (("2 players, random", 0.5), ("4 players, three random", 0.25)):
        rate, low, high = found[kind]
        assert low < rate < high
        assert rate == pytest.approx(chance, abs=0.05)


@pytest.mark.parametrize("arguments", [["nobody"], ["--games", "6"], ["--seed", "-1"]])
def test_wrong_arguments_are_refused_in_one_line(arguments):
    command = [sys.executable, "-m", "training.strength", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_the_page_s_agent_plays_and_beats_random(tmp_path):
    block = next(b for b in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "Runner" in b)
    (tmp_path / "my_agents.py").write_text(block)
    arguments = ["evaluate", "my_agents:Runner", "--against", "random", "--players", "2"]
    arguments += ["--games", "600", "--seed", "1", "--json"]
    command = [sys.executable, "-m", "ludo_env.cli", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["agents"][0]["win_rate"] > 0.6
