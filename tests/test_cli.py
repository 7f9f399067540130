import json
import subprocess
import sys

import pytest

from ludo_env.cli import main


def run(*arguments):
    command = [sys.executable, "-m", "ludo_env.cli", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_evaluate_prints_a_table_of_all_agents(capsys):
    assert (
        main(["evaluate", "advance", "--against", "random", "--games", "200", "--seed", "1"]) == 0
    )
    printed = capsys.readouterr().out
    assert "advance" in printed
    assert "200 independent games, seed 1" in printed


def test_evaluate_prints_json_and_nothing_else(capsys):
    arguments = "evaluate first --against random advance --players 3 --games 30 --seed 5 --json"
    assert main(arguments.split()) == 0
    results = json.loads(capsys.readouterr().out)
    assert results["games"] == 30
    assert results["seed"] == 5
    assert [agent["name"] for agent in results["agents"]] == ["first", "random", "advance"]


def test_evaluate_repeats_itself_under_a_seed(capsys):
    printed = []
    for _ in range(2):
        main(["evaluate", "random", "--games", "40", "--seed", "3", "--json"])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_one_opponent_fills_all_other_seats(capsys):
    main(["evaluate", "first", "--against", "random", "--players", "4", "--games", "8", "--json"])
    names = [agent["name"] for agent in json.loads(capsys.readouterr().out)["agents"]]
    assert names == ["first", "random", "random (2)", "random (3)"]


def test_agents_lists_every_spec(capsys):
    assert main(["agents"]) == 0
    printed = capsys.readouterr().out
    assert all(
        spec in printed
        for spec in ("random", "first", "advance", "careful", "expectimax", "sb3:PATH")
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate"],
        ["evaluate", "nobody"],
        ["evaluate", "random", "--games", "3"],
        ["evaluate", "random", "--games", "0"],
        ["evaluate", "random", "--games", "many"],
        ["evaluate", "random", "--players", "5"],
        ["evaluate", "random", "--pawns", "9"],
        ["evaluate", "random", "--seed", "-1"],
        ["evaluate", "random", "--against", "first", "first"],
        ["evaluate", "sb3:/no/such/file"],
        ["evaluate", "random", "--speed", "2"],
        ["evaluate", "no.such.module:agent"],
        ["bench", "--repeats", "0"],
        ["bench", "--seconds", "-1"],
        ["bench", "--only", "nothing of the kind"],
        ["dance"],
        [],
    ],
    ids=" ".join,
)
def test_bad_arguments_give_one_line_on_stderr_and_code_2(arguments, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ludo: error: ")
    assert printed.err.count("\n") == 1


def test_an_agent_that_fails_gives_one_line_and_code_1(tmp_path, monkeypatch, capsys):
    (tmp_path / "clumsy.py").write_text(
        "class Agent:\n    def act(self, batch, rows):\n        raise RuntimeError('oh no')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["evaluate", "clumsy:Agent", "--games", "2"]) == 1
    error = capsys.readouterr().err
    assert "oh no" in error
    assert error.count("\n") == 1


def test_agents_of_the_working_folder_are_found(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Agent:\n"
        "    def act(self, batch, rows):\n"
        "        return batch.masks(rows).argmax(axis=1)\n"
    )
    command = [sys.executable, "-m", "ludo_env.cli", "evaluate", "mine:Agent", "--games", "2"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine:Agent" in done.stdout


def test_help_everywhere():
    for command in ([], ["evaluate"], ["agents"], ["bench"]):
        done = run(*command, "--help")
        assert done.returncode == 0
        assert "usage: ludo" in done.stdout
        assert done.stderr == ""


def test_an_agent_that_leaves_the_program_does_not(tmp_path, monkeypatch, capsys):
    (tmp_path / "leaving.py").write_text(
        "import sys\nclass Agent:\n    def act(self, batch, rows):\n        sys.exit()\n"
    )
    (tmp_path / "gone.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    for agent, code in (("leaving:Agent", 1), ("gone:Agent", 2), ("sys:exit", 2)):
        assert main(["evaluate", agent, "--games", "2"]) == code
        error = capsys.readouterr().err
        assert agent in error
        assert error.count("\n") == 1
