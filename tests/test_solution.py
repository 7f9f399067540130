"""Looking values up, and the file that holds them."""

from __future__ import annotations

import copy
import json
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ludo_env import Game, GameBatch, Position, Rules, make_agent
from ludo_env.agents.exact import ExactAgent
from ludo_env.core.boards import Boards
from ludo_env.solution import Solution

ONE, TWO = Rules(2, 1), Rules(2, 2)


@pytest.fixture
def solution(solved):
    return solved(TWO)


@pytest.fixture
def path(solution, tmp_path):
    path = tmp_path / "two.solution"
    solution.save(path)
    return path


# Values


def test_the_value_of_a_die_is_that_of_its_best_move(solution):
    after = solution.values_after("30.12/20.3 0 4")
    assert set(after) == {0, 1}
    assert solution.value("30.12/20.3 0 4") == max(after.values())


def test_the_value_before_a_roll_is_the_mean_over_the_dice(solution):
    values = [solution.value(f"30.12/20.3 0 {die}") for die in range(1, 7)]
    assert solution.value("30.12/20.3 0 -") == pytest.approx(np.mean(values), abs=1e-11)


def test_after_a_six_the_mover_rolls_again(solution):
    """R8."""
    after = solution.values_after("30.12/20.3 0 6")
    assert after[0] == solution.value("36.12/20.3 0 -")
    assert solution.values_after("30.12/20.3 0 5")[0] == 1 - solution.value("35.12/20.3 1 -")


def test_a_capture_sends_the_pawn_home(solution):
    """R11: progress 25 of player 0 is progress 5 of player 1; R14 leaves that move only."""
    assert solution.values_after("20.12/5.3 0 5") == {0: 1 - solution.value("25.12/3.0 1 -")}


def test_a_winning_move_is_worth_one(solution):
    """R19."""
    assert solution.values_after("42.40/5.3 0 1") == {1: 1.0}
    assert solution.best_actions("42.40/5.3 0 1") == (1,)


def test_a_first_roll_without_a_move_leaves_two_tries(solution):
    """R9: all pawns are in the yard, so a 6 is needed."""
    passed = 1 - solution.value("0.0/5.3 1 -")
    six = solution.value("1.0/5.3 0 -")
    expected = six * 11 / 36 + passed * 25 / 36
    assert solution.value("0.0/5.3 0 2") == pytest.approx(expected, abs=1e-11)
    assert solution.values_after("0.0/5.3 0 2") == {}


def test_a_single_roll_without_a_move_passes(solution):
    """R6: from progress 41, only a 1 can be played."""
    passed = 1 - solution.value("42.40/5.3 1 -")
    assert solution.value("42.40/5.3 0 3") == passed


def test_a_finished_game_is_won(solution):
    assert solution.value("42.41/5.3 0 -") == 1
    assert solution.value("5.3/42.41 1 -") == 1


def test_both_players_have_a_chance_of_one_together(solution):
    """What the mover loses the other wins: player 1's value of its own turn is 1 less ours."""
    game = Game(TWO, seed=3)
    while game.winner is None:
        position = game.position
        after = solution.values_after(position)
        assert set(after) == set(np.flatnonzero(game.action_mask()))
        for action, afterstate in game.afterstates().items():
            same = afterstate.player == position.player
            value = solution.value(afterstate)
            assert after[action] == pytest.approx(value if same else 1 - value, abs=1e-12)
        game.play(min(after))


def test_values_do_not_depend_on_the_seat(solution):
    assert solution.values_after("30.12/20.3 0 4") == solution.values_after("20.3/30.12 1 4")


def test_equally_good_moves_are_all_best(solution):
    """With two pawns no two moves are worth the same, so the values are bent here."""
    table = solution.table.copy()
    bent = Solution(TWO, table, solution.error)
    assert solution.best_actions("30.12/20.3 0 4") == (0,)
    board = Boards(2).number
    other_rolls = board((1 << 19) + (1 << 2)), board((1 << 29) + (1 << 15))  # after action 1
    best = solution.values_after("30.12/20.3 0 4")[0]
    for short, actions in ((0.9e-9, (0, 1)), (1.1e-9, (0,)), (-1.1e-9, (1,))):
        table[other_rolls] = round((1 - best + short) * solution.one)
        assert bent.best_actions("30.12/20.3 0 4") == actions, short


def test_positions_are_taken_as_values_or_text(solution):
    position = Position(((30, 12), (20, 3)), 0, 4)
    assert solution.value(position) == solution.value(str(position))
    assert solution.best_actions(position) == solution.best_actions(str(position))


@pytest.mark.parametrize(
    "position", ["30.12/20.3 0 7", "30.30/20.3 0 4", "30/20 0 4", "1.0/21.0 0 4", "x", 4, None]
)
def test_impossible_positions_are_refused(solution, position):
    for method in (solution.value, solution.values_after, solution.best_actions):
        with pytest.raises(ValueError, match="position"):
            method(position)


@pytest.mark.parametrize("position", ["30.12/20.3 0 -", "42.41/20.3 0 -"])
def test_moves_need_a_die(solution, position):
    for method in (solution.values_after, solution.best_actions):
        with pytest.raises(ValueError, match="must show a die"):
            method(position)


def test_a_die_without_a_move_has_no_best_action(solution):
    with pytest.raises(ValueError, match="must have a legal move"):
        solution.best_actions("0.0/20.3 0 4")


def test_where_the_game_starts_changes_no_value_but_the_first(solved):
    """R4."""
    other = solved(Rules(2, 2, pawn_on_start=True))
    assert (other.table == solved(TWO).table).all()
    assert other.start != solved(TWO).start
    assert other.start == solved(TWO).value("1.0/1.0 0 -")
    assert solved(TWO).covers(other.rules)
    assert not solved(TWO).covers(Rules(2, 2, home_jumps=True))


# The file


def test_a_saved_solution_is_read_as_it_was(solution, path):
    read = Solution.load(path)
    assert (read.rules, read.error, read.one) == (solution.rules, solution.error, solution.one)
    assert (read.table == solution.table).all()
    assert isinstance(read.table, np.memmap)
    assert not read.table.flags.writeable


def test_the_header_names_rules_error_and_version(solution, path):
    magic, header, *_ = path.read_bytes()[:4096].split(b"\n")
    assert magic == b"ludo_env solution"
    read = json.loads(header)
    assert read["rules"]["num_pawns"] == 2
    assert read["error"] == solution.error
    assert read["version"]
    assert path.stat().st_size == 4096 + 904 * 904 * 8


def rewritten(path, **changes):
    content = path.read_bytes()
    kind, header, _ = content[:4096].split(b"\n", 2)
    fields = {**json.loads(header), **changes}
    head = kind + b"\n" + json.dumps(fields).encode() + b"\n"
    path.write_bytes(head.ljust(4095) + b"\n" + content[4096:])


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:4096]), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:30]), "damaged"),
        (lambda path: path.write_bytes(b""), "no file of a ludo_env solution"),
        (lambda path: path.write_bytes(b"PK" * 5000), "no file of a ludo_env solution"),
        (lambda path: path.unlink(), "cannot read"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot read"),
        (lambda path: rewritten(path, format=99), "format"),
        (lambda path: rewritten(path, rules={"num_players": 4}), "damaged"),
        (lambda path: rewritten(path, rules={"num_players": 2, "num_pawns": 1}), "damaged"),
        (lambda path: rewritten(path, rules=None), "damaged"),
        (lambda path: rewritten(path, dtype="<u4"), "damaged"),
        (lambda path: rewritten(path, dtype=3.5), "damaged"),
        (lambda path: rewritten(path, one=5), "damaged"),
        (lambda path: rewritten(path, error="none"), "damaged"),
        (lambda path: rewritten(path, boards=42), "damaged"),
        (lambda path: rewritten(path, crc32=1), "checksum"),
        (lambda path: path.write_bytes(path.read_bytes()[:-8] + b"\xff" * 8), "checksum"),
    ],
)
def test_damaged_and_foreign_files_are_refused_by_name(path, damage, why):
    damage(path)
    with pytest.raises(ValueError, match=why) as caught:
        Solution.load(path)
    assert str(path) in str(caught.value)


def test_saving_replaces_a_file_wholly_or_not_at_all(solution, path, monkeypatch):
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match="No space left"):
        solution.save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_many_threads_may_save_to_one_path(solution, path):
    def save_and_load(_):
        solution.save(path)
        return Solution.load(path).error

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(save_and_load, range(20))) == {solution.error}
    assert list(path.parent.iterdir()) == [path]


def test_saving_follows_links(solution, path):
    link = path.with_name("link")
    link.symlink_to(path.with_name("behind"))
    solution.save(link)
    assert link.is_symlink()
    assert Solution.load(link).error == solution.error


@pytest.mark.parametrize("name", ["nowhere/file", "two.solution/file", "x" * 300, "pipe"])
def test_saving_where_no_file_can_be_fails_by_name(solution, path, name):
    os.mkfifo(path.with_name("pipe"))
    with pytest.raises(ValueError, match=r"path|cannot write"):
        solution.save(path.with_name("x").parent / name)
    assert sorted(p.name for p in path.parent.iterdir()) == ["pipe", "two.solution"]


@pytest.mark.parametrize("wrong", [None, 3, b"two.solution", "", "a\0b"])
def test_a_path_is_text_or_stands_for_it(solution, wrong):
    for call in (solution.save, Solution.load, ExactAgent):
        with pytest.raises(ValueError, match="must be the path of a file"):
            call(wrong)


@pytest.mark.parametrize("table", [np.zeros((42, 42)), np.zeros((904, 904), dtype=np.float32)])
def test_a_table_of_another_form_makes_no_solution(table):
    with pytest.raises(ValueError, match="table must be"):
        Solution(TWO, table, 0.0)


# The agent


def test_the_exact_agent_plays_the_first_of_the_best_actions(solution, path):
    agent = make_agent(f"exact:{path}")
    batch = GameBatch(200, TWO, seed=2)
    for _ in range(20):
        rows = np.flatnonzero(~batch.finished)
        actions = agent.act(batch, rows)
        for row, action in list(zip(rows, actions, strict=True))[:20]:
            assert action == solution.best_actions(batch.position(row))[0]
        batch.play(rows, actions)


def test_the_exact_agent_leaves_the_batch_as_it_is(solution):
    batch = GameBatch(50, TWO, seed=2)
    before = pickle.dumps(batch)
    ExactAgent(solution).act(batch, np.arange(50))
    assert pickle.dumps(batch) == before


def test_the_exact_agent_plays_an_environment(path):
    import gymnasium

    env = gymnasium.make(
        "ludo_env/Ludo-v0", num_players=2, num_pawns=2, opponents=f"exact:{path}", seat="random"
    )
    _, info = env.reset(seed=1)
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        done = terminated or truncated
    assert info["winner"] in (0, 1)


def test_a_pickled_agent_reads_its_file_again(path):
    agent = make_agent(f"exact:{path}")
    content = pickle.dumps(agent)
    assert len(content) < 10_000
    batch = GameBatch(20, TWO, seed=2)
    rows = np.arange(20)
    assert (pickle.loads(content).act(batch, rows) == agent.act(batch, rows)).all()


def test_a_loaded_or_solved_agent_can_be_copied_and_pickled(solution, path):
    batch = GameBatch(20, TWO, seed=2)
    rows = np.arange(20)
    for agent in (ExactAgent(solution), ExactAgent(Solution.load(path))):
        for other in (copy.copy(agent), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
            assert (other.act(batch, rows) == agent.act(batch, rows)).all()


def test_a_pickled_agent_finds_its_file_from_another_folder(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    content = pickle.dumps(make_agent(f"exact:{path.name}"))
    monkeypatch.chdir("/")
    assert pickle.loads(content).solution.rules == TWO


@pytest.mark.parametrize("rules", [ONE, Rules(4), Rules(2, 2, home_jumps=True)])
def test_the_exact_agent_refuses_games_that_it_does_not_cover(solution, rules):
    batch = GameBatch(3, rules, seed=1)
    with pytest.raises(ValueError, match="solves"):
        ExactAgent(solution).act(batch, np.arange(3))
    with pytest.raises(ValueError, match="batch must be of"):
        solution.action_values(batch)


def test_the_exact_agent_needs_its_file(tmp_path):
    with pytest.raises(ValueError, match="cannot read"):
        make_agent(f"exact:{tmp_path / 'nothing'}")


def test_an_ended_row_has_no_action(solution):
    batch = GameBatch.from_positions(["42.41/5.3 0 -", "30.12/20.3 0 4"], TWO, seed=1)
    values = solution.action_values(batch)
    assert (values[0] == -1).all()
    assert (values[1] >= 0).sum() == 2


def test_solutions_hold_every_board_pair(solution):
    assert solution.table.shape == (len(Boards(2)),) * 2
