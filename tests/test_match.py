"""Matches: who plays whom by which dice, whatever goes wrong, and what is kept of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ludo_env import Game, GameBatch, Rules, arena, make_agent
from ludo_env.arena import AgentFaultError, Schedule, files, play, summary, table
from ludo_env.core import rollout
from ludo_env.core.noting import NOTES

TWO = Rules(num_players=2)
FREE = Rules(num_players=2, mandatory_capture=False)


class Asked:
    """Plays as a scripted agent does, but must be asked."""

    def __init__(self, policy: str, seed: int = 0):
        self.agent = make_agent(policy, seed=seed)

    def act(self, batch, rows):
        return self.agent.act(batch, rows)

    def __repr__(self):
        return f"Asked({self.agent})"


def same_games(one: arena.Results, other: arena.Results) -> bool:
    """Whether all is the same but for the time that it took."""
    names = ("games", "seeds", "seating", "places", "rolls", "notes", "forfeits")
    alike = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
    return alike and (one.actions, one.faults) == (other.actions, other.faults)


# Schedules


def test_every_agent_sits_in_every_seat_equally_often():
    results = play(["random", "first", "advance"], games=12, rules=Rules(3), seed=1)
    for agent in range(3):
        assert np.bincount(results.seats_of(agent)[1]).tolist() == [4, 4, 4]
    assert all(sorted(seating) == [0, 1, 2] for seating in results.seating.tolist())


def test_exactly_the_games_asked_for_each_with_a_seed_of_its_own():
    results = play(["random", "advance"], games=50, rules=TWO, seed=1)
    assert len(results) == 50
    assert results.is_complete
    assert len(set(results.seeds.tolist())) == 50
    assert ((results.places == 1).sum(axis=1) == 1).all()


def test_with_common_dice_the_games_of_a_block_share_their_seed():
    schedule = Schedule(Rules(3), 3, 12, 5, common_dice=True)
    seeds = schedule.seeds(np.arange(12)).reshape(4, 3)
    assert (seeds == seeds[:, :1]).all()
    assert len(np.unique(seeds)) == 4


def test_a_tournament_has_every_choice_of_agents_equally_often_and_in_every_seat():
    schedule = Schedule(Rules(3), 5, 3 * 10 * 2, 5)
    seating = schedule.seating(np.arange(60))
    met = {tuple(sorted(row)) for row in seating.tolist()}
    assert len(met) == 10
    for agent in range(5):
        assert np.bincount(np.nonzero(seating == agent)[1]).tolist() == [12, 12, 12]
    blocks = seating.reshape(20, 3, 3)
    assert all(len({tuple(sorted(row)) for row in block.tolist()}) == 1 for block in blocks)


@pytest.mark.parametrize("games", [0, -2, 3, 2.0, True])
def test_a_number_of_games_that_cannot_be_is_refused(games):
    with pytest.raises(ValueError, match="games must be"):
        play(["random", "random"], games=games, rules=TWO)


def test_a_tournaments_games_are_a_multiple_of_its_tables():
    with pytest.raises(ValueError, match="multiple of 6, for 2 players at 3 tables"):
        play(["random", "first", "advance"], games=8, rules=TWO)


def test_one_agent_at_least_for_each_player():
    with pytest.raises(ValueError, match="agents must be 2 at least"):
        play(["random"], games=2, rules=TWO)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"names": ["a"]}, "names must be 2"),
        ({"max_rolls": 0}, "max_rolls"),
        ({"max_faults": 0}, "max_faults"),
        ({"processes": 0}, "processes"),
        ({"batch_size": 0}, "batch_size"),
        ({"until": 0.7}, "until"),
        ({"resume": True}, "resume needs a file"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_arguments_are_refused_by_name(wrong, message):
    with pytest.raises(ValueError, match=message):
        play(["random", "random"], **({"games": 2, "rules": TWO} | wrong))


# Games


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_results_do_not_depend_on_the_batch_size(batch_size):
    chosen = {"games": 40, "rules": TWO, "seed": 3}
    one = play(["random", Asked("advance")], **chosen, batch_size=16)
    other = play(["random", Asked("advance")], **chosen, batch_size=batch_size)
    assert same_games(one, other)


def test_results_do_not_depend_on_the_processes():
    chosen = {"games": 36, "rules": Rules(3), "seed": 3}
    agents = ["random", "careful", "advance"]
    assert same_games(play(agents, **chosen), play(agents, **chosen, processes=2))


@pytest.mark.parametrize("rules", [TWO, Rules(), FREE], ids=str)
def test_scripted_agents_play_in_compiled_code_as_if_they_were_asked(rules):
    policies = ["random", "careful", "advance", "first"][: rules.num_players]
    chosen = {"games": 12 * rules.num_players, "rules": rules, "seed": 3}
    asked = [Asked(policy, seed=number) for number, policy in enumerate(policies)]
    assert same_games(play(policies, **chosen), play(asked, **chosen))


def test_a_match_is_the_same_for_the_same_seed_and_another_for_another():
    chosen = {"games": 40, "rules": TWO}
    first = play(["random", "random"], **chosen, seed=1)
    assert same_games(first, play(["random", "random"], **chosen, seed=1))
    assert not same_games(first, play(["random", "random"], **chosen, seed=2))


def test_four_copies_of_random_win_a_quarter_each():
    results = play(["random"] * 4, games=4000, seed=11)
    error = np.sqrt(0.25 * 0.75 / 4000)
    assert max(abs(results.win_rate(agent) - 0.25) for agent in range(4)) < 4 * error


def test_seats_win_as_often_as_in_long_rollouts():
    """Who begins has more than a quarter; the arena gives it no more than the game does."""
    stats = GameBatch(1024, seed=1).rollout(20_000)
    expected = np.array(stats.wins) / stats.finished
    results = play(["random"] * 4, games=8000, seed=11)
    rates = (results.places == 1).mean(axis=0)
    errors = np.sqrt(expected * (1 - expected) * (1 / 8000 + 1 / stats.finished))
    assert (np.abs(rates - expected) < 4 * errors).all()
    assert expected[0] > expected[1:].max()


def test_games_are_those_of_their_seeds_and_actions():
    """Re-played one by one, with all that is noted of them."""
    results = play(["random", "advance", "careful"], games=9, rules=Rules(3), seed=9)
    for row in range(len(results)):
        game = Game(results.rules, seed=int(results.seeds[row]))
        for digit in results.actions[row]:
            assert game.winner is None
            game.play(int(digit))
        assert list(game.places()) == results.places[row].tolist()


def test_rolls_are_counted_and_games_longer_than_the_limit_are_cut():
    whole = play(["random", "advance"], games=40, rules=TWO, seed=9)
    limit = int(np.median(whole.rolls))
    cut = play(["random", "advance"], games=40, rules=TWO, seed=9, max_rolls=limit)
    assert (cut.finished == (whole.rolls <= limit)).mean() > 0.9  # a game may end on its last roll
    np.testing.assert_array_equal(cut.places[cut.finished], whole.places[cut.finished])
    assert (cut.places[~cut.finished] == 0).all()
    found = summary(cut)
    assert found["unfinished"] == (~cut.finished).sum() > 0
    assert sum(agent["wins"] for agent in found["agents"]) == cut.finished.sum()


def rolls_at_decisions(rules: Rules, seed: int, actions: str) -> list[int]:
    """Rolls made at each decision of a game's beginning, and at the one after it."""
    game = Game(rules, seed=seed)
    made = [sum(type(event).__name__ == "Roll" for event in game.opening_events)]
    for digit in actions:
        events = game.play(int(digit))
        made.append(made[-1] + sum(type(event).__name__ == "Roll" for event in events))
    return made


@pytest.mark.parametrize("agents", [["random", "advance"], [Asked("random"), "advance"]], ids=str)
def test_a_game_is_cut_at_its_first_decision_with_so_many_rolls(agents):
    cut = play(agents, games=40, rules=TWO, seed=9, max_rolls=60)
    assert not cut.finished.any()
    for row in range(len(cut)):
        made = rolls_at_decisions(TWO, int(cut.seeds[row]), cut.actions[row])
        assert made[-2] < 60 <= made[-1] == cut.rolls[row]


# What is noted


def noted_by_hand(rules: Rules, seed: int, actions: str) -> np.ndarray:
    """The notes on a game, from the game's own account of itself."""
    notes = np.zeros((rules.num_players, len(NOTES)), dtype=np.int64)
    game = Game(rules, seed=seed)
    rolls = sum(type(event).__name__ == "Roll" for event in game.opening_events)
    for digit in actions:
        player, moves = game.player, game.legal_moves()
        chosen = next(move for move in moves if move.action == int(digit))
        captures = [move for move in moves if move.captured is not None]
        own = notes[player]
        own[0] += 1
        own[1] += len(moves) > 1
        own[2] += chosen.captured is not None
        if chosen.captured is not None:
            notes[chosen.captured, 3] += 1
        own[4] += 0 < len(captures) < len(moves)
        own[5] += 0 < len(captures) < len(moves) and chosen.captured is not None
        events = game.play(int(digit))
        after = [list(pawns) for pawns in game.position.pawns]
        own[6] += exposed(after, player, rules.num_players)
        if own[7] == 0 and max(after[player]) > 40:
            own[7] = rolls
        rolls += sum(type(event).__name__ == "Roll" for event in events)
    return notes


def exposed(pawns: list[list[int]], player: int, players: int) -> int:
    """Pawns on the track one to six squares ahead of an opponent's."""
    corners = {2: [0, 2], 3: [0, 1, 2], 4: [0, 1, 2, 3]}[players]

    def square(owner: int, progress: int) -> int:
        return (progress - 1 + 10 * corners[owner]) % 40

    def is_exposed(progress: int) -> bool:
        return any(
            1 <= other <= 40 and 1 <= progress - own_progress(owner, other) <= 6
            for owner in range(players)
            if owner != player
            for other in pawns[owner]
        )

    def own_progress(owner: int, progress: int) -> int:
        return (square(owner, progress) - 10 * corners[player]) % 40 + 1

    return sum(1 <= progress <= 40 and is_exposed(progress) for progress in pawns[player])


@pytest.mark.parametrize("rules", [FREE, Rules(3, home_jumps=True), Rules()], ids=str)
def test_notes_are_what_the_games_tell_of_themselves(rules):
    agents = ["random", "careful", Asked("first"), "advance"][: rules.num_players]
    results = play(agents, games=3 * rules.num_players, rules=rules, seed=2)
    for row in range(len(results)):
        expected = noted_by_hand(rules, int(results.seeds[row]), results.actions[row])
        np.testing.assert_array_equal(results.notes[row], expected)


def test_long_games_are_noted_whole():
    results = play(["random"] * 4, games=40, seed=5)
    lengths = [len(actions) for actions in results.actions]
    assert max(lengths) > 512  # more than there is room for at first
    assert lengths == results.notes[:, :, 0].sum(axis=1).tolist()


# What agents are shown, and what they get wrong


class Recorder:
    """Plays first, and keeps what it was shown."""

    def __init__(self):
        self.shown = []

    def act(self, batch, rows):
        self.shown.append((batch, rows))
        return batch.scripted_actions(rows, "first")


def test_agents_are_shown_games_whose_coming_dice_are_not_those_rolled():
    recorder = Recorder()
    play([recorder, recorder], games=2, rules=TWO, seed=4, batch_size=1)
    foretold = rolled = 0
    for (shown, rows), (later, later_rows) in zip(recorder.shown, recorder.shown[1:], strict=False):
        future = shown.copy()
        future.play(rows, shown.scripted_actions(rows, "first"))
        foretold += future.dice[rows[0]] == later.dice[later_rows[0]]
        rolled += 1
    assert foretold / rolled < 0.5  # dice that were known would agree always


class Answers:
    """Answers what it is told to, in games with any of some seeds; else as first does."""

    def __init__(self, answer, bad=None):
        self.answer, self.bad = answer, bad

    def act(self, batch, rows):
        if self.bad is None or np.isin(batch.seeds[rows], self.bad).any():
            return self.answer(rows)
        return batch.scripted_actions(rows, "first")

    def __repr__(self):
        return "Answers"


def raises(_):
    raise RuntimeError("lost its mind")


WRONG = [
    (lambda rows: np.full(len(rows), 3), "illegal"),
    (lambda rows: np.zeros(len(rows)), "must return integers"),
    (lambda rows: np.zeros(len(rows) + 1, dtype=int), "must return integers of shape"),
    (lambda _: None, "must return integers"),
    (lambda rows: np.full(len(rows), np.nan), "must return integers"),
    (raises, "lost its mind"),
]


@pytest.mark.parametrize(("answer", "complaint"), WRONG)
def test_an_agent_that_answers_nonsense_is_named_with_the_game_and_position(answer, complaint):
    with pytest.raises(AgentFaultError, match=rf"Answers.* game \d+ at '.* \d \d'.*{complaint}"):
        play([Answers(answer), "random"], games=2, rules=TWO, seed=1)


def seeds_as_shown(schedule: Schedule, games: list[int]) -> np.ndarray:
    batch = GameBatch(len(games), schedule.rules, seed=schedule.seeds(np.array(games)))
    return batch.blind().seeds


@pytest.mark.parametrize(("answer", "complaint"), WRONG)
def test_a_forfeit_costs_that_game_and_no_other(answer, complaint):
    schedule = Schedule(TWO, 2, 40, 1)
    bad = seeds_as_shown(schedule, [7, 20])
    chosen = {"games": 40, "rules": TWO, "seed": 1}
    results = play([Answers(answer, bad), "advance"], **chosen, forfeit=True)
    assert sorted(fault.game for fault in results.faults) == [7, 20]
    assert all(complaint in fault.what and fault.agent == 0 for fault in results.faults)
    for fault in results.faults:
        Game(TWO, position=fault.position)
    whole = play(["first", "advance"], **chosen)
    others = ~np.isin(results.games, [7, 20])
    np.testing.assert_array_equal(results.places[others], whole.places[others])
    assert (results.places[~others][results.seating[~others] == 0] == 2).all()
    assert summary(results)["agents"][0]["forfeited"] == 2


@pytest.mark.parametrize("batch_size", [8, 1024])
def test_after_so_many_faults_an_agent_is_not_asked_any_more(batch_size):
    class Counting(Answers):
        asked = 0

        def act(self, batch, rows):
            self.asked += 1
            return raises(rows)

    agent = Counting(None)
    chosen = {"games": 400, "rules": TWO, "seed": 1, "batch_size": batch_size}
    results = play([agent, "advance"], **chosen, forfeit=True, max_faults=3)
    assert len(results.faults) == 3
    assert agent.asked < 10
    assert summary(results)["agents"][0]["forfeited"] == 400
    assert results.win_rate(0) == 0.0


# Files


def test_a_file_holds_all_of_a_match(tmp_path):
    path = tmp_path / "match.jsonl"
    schedule = Schedule(TWO, 2, 40, 1)
    agents = [Answers(raises, seeds_as_shown(schedule, [4])), "advance"]
    results = play(agents, games=40, rules=TWO, seed=1, forfeit=True, file=path)
    again = arena.load(path)
    assert same_games(results, again)
    assert summary(again)["agents"][1] == summary(results)["agents"][1]
    assert len(path.read_text().splitlines()) == 41


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    path = tmp_path / "match.jsonl"
    path.write_text("precious\n")
    for resume in (False, True):
        with pytest.raises(ValueError, match=r"match\.jsonl"):
            play(["random", "random"], games=2, rules=TWO, seed=1, file=path, resume=resume)
    assert path.read_text() == "precious\n"


@pytest.mark.parametrize("missing", [1, 60, 400])
def test_a_match_goes_on_from_a_file_that_was_cut_off_anywhere(missing, tmp_path):
    path = tmp_path / "match.jsonl"
    chosen = {"games": 30, "rules": TWO, "seed": 1, "file": path}
    whole = play(["random", "careful"], **chosen)
    path.write_bytes(path.read_bytes()[:-missing])
    assert len(arena.load(path)) < 30
    again = play(["random", "careful"], **chosen, resume=True)
    assert same_games(whole, again)
    assert same_games(whole, arena.load(path))


def test_a_file_whose_head_was_cut_off_is_begun_again(tmp_path):
    path = tmp_path / "match.jsonl"
    path.write_text('{"format": "lud')
    results = play(["random", "first"], games=4, rules=TWO, seed=1, file=path, resume=True)
    assert same_games(results, arena.load(path))


@pytest.mark.parametrize(
    "changed", [{"games": 32}, {"seed": 2}, {"rules": FREE}, {"common_dice": True}]
)
def test_another_match_does_not_go_on_with_a_file(changed, tmp_path):
    path = tmp_path / "match.jsonl"
    chosen = {"games": 30, "rules": TWO, "seed": 1, "file": path}
    play(["random", "careful"], **chosen)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another match"):
        play(["random", "careful"], **(chosen | changed), resume=True)
    with pytest.raises(ValueError, match="another match: agents was"):
        play(["random", "advance"], **chosen, resume=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        '{"game": 99}',
        '{"game": 0, "places": [1], "rolls": 3, "actions": "", "notes": [], "seconds": []}',
        "[]",
    ],
)
def test_lines_that_are_no_games_are_refused_by_number(line, tmp_path):
    path = tmp_path / "match.jsonl"
    play(["random", "careful"], games=2, rules=TWO, seed=1, file=path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match="line 4"):
        arena.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("notes", [[10**30] * len(NOTES)] * 2),
        ("notes", [[0] * len(NOTES)]),
        ("seconds", [0.0]),
        ("seconds", [0.0, 10**400]),
        ("seconds", [0.0, "long"]),
        ("faults", [[0]]),
        ("game", 1.5),
    ],
)
def test_a_line_with_wrong_numbers_is_refused(name, value, tmp_path):
    path = tmp_path / "match.jsonl"
    play(["random", "careful"], games=2, rules=TWO, seed=1, file=path)
    *lines, last = path.read_text().splitlines()
    path.write_text("\n".join([*lines, json.dumps(json.loads(last) | {name: value})]) + "\n")
    with pytest.raises(ValueError, match="line 3: no game of this match"):
        arena.load(path)


@pytest.mark.parametrize("content", ["", "x\n", "{}\n", '{"format": "ludo_env.arena"}\n'])
def test_files_of_another_kind_are_refused(content, tmp_path):
    path = tmp_path / "match.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match="does not begin"):
        arena.load(path)
    with pytest.raises(ValueError, match="cannot be read"):
        files.read(tmp_path / "nowhere.jsonl")


SLOW_MATCH = """
import signal, sys, time
from ludo_env import Rules, arena, make_agent
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background shells ignore it
class Slow:
    agent = make_agent("advance")
    def act(self, batch, rows):
        time.sleep(0.002)
        return self.agent.act(batch, rows)
    def __repr__(self):
        return "Slow"
print("ready", flush=True)
results = arena.play([Slow(), "random"], games=200, rules=Rules(2), seed=3, batch_size=8,
                     file=sys.argv[1], resume=True)
print(len(results), flush=True)
"""


def start_match(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_MATCH, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_match_that_is_killed_again_and_again_comes_to_the_same(tmp_path):
    path, rng = tmp_path / "match.jsonl", np.random.default_rng(0)
    for _ in range(3):
        process = start_match(path)
        time.sleep(rng.uniform(0.0, 1.5))
        process.kill()
        process.wait()
        if path.exists() and files.has_begun(path):
            arena.load(path)
    process = start_match(path)
    assert process.wait(timeout=120) == 0
    whole = play([Asked("advance"), "random"], games=200, rules=TWO, seed=3)
    assert same_games(whole, arena.load(path))


def test_an_interrupt_keeps_what_has_been_played(tmp_path):
    path = tmp_path / "match.jsonl"
    process = start_match(path)
    while not path.exists() or path.read_bytes().count(b"\n") < 10:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert 9 <= int(output) < 200
    assert len(arena.load(path)) == int(output)


# Summaries


def test_summary_says_what_json_can_hold_and_the_table_shows_it():
    results = play(["advance", "random", "random"], games=30, rules=Rules(3), seed=2)
    found = json.loads(json.dumps(summary(results)))
    assert [agent["name"] for agent in found["agents"]] == ["advance", "random", "random (2)"]
    assert sum(agent["wins"] for agent in found["agents"]) == 30
    own = found["agents"][0]
    assert own["win_rate_95"][0] < own["win_rate"] < own["win_rate_95"][1]
    assert np.mean(own["win_rate_by_seat"]) == pytest.approx(own["win_rate"])
    assert f"{own['win_rate']:.4f}" in table(found)


def test_rows_are_tidy_one_for_each_player_of_each_game():
    results = play(["advance", "random", "first"], games=6, rules=Rules(3), seed=2)
    rows = results.rows()
    assert len(rows) == 18
    assert sum(row["won"] for row in rows) == 6
    assert {row["agent"] for row in rows} == {"advance", "random", "first"}
    wins = sum(row["won"] for row in rows if row["agent"] == "advance")
    assert wins / 6 == results.win_rate(0)
    assert json.loads(json.dumps(rows)) == rows


def test_a_match_ends_once_it_knows_well_enough():
    results = play(["advance", "random"], games=40_000, rules=TWO, seed=2, until=0.02)
    assert 0 < len(results) < 40_000
    low, high = results.win_sequence(0)
    assert (high - low) / 2 <= 0.02
    assert low < results.win_rate(0) < high
    found = summary(results)
    assert found["sequential"] == {"until": 0.02, "win_rate_95": [low, high]}
    again = play(["advance", "random"], games=40_000, rules=TWO, seed=2, until=0.02, batch_size=99)
    assert same_games(results, again)


def test_no_tournament_ends_before_all_have_met():
    with pytest.raises(ValueError, match="no tournament"):
        play(["advance", "random", "first"], games=600, rules=TWO, seed=2, until=0.02)


def test_the_totals_have_a_name_each():
    assert len(set(rollout.TOTALS)) == len(rollout.TOTALS)
