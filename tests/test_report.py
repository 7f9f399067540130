"""Reports: what is said of results is what they are, in tables, pictures and pages."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from ludo_env import Game, Rules, arena, solver
from ludo_env.agents.exact import ExactAgent
from ludo_env.arena import plots, stats, summary, table
from ludo_env.arena.page import page
from ludo_env.arena.regret import losses
from ludo_env.arena.report import behaviour, behaviour_rows, superiority
from ludo_env.cli import main
from ludo_env.core.noting import NOTES
from ludo_env.sb3 import LudoVecEnv
from ludo_env.sb3_callback import ArenaCallback

TWO = Rules(num_players=2)


@pytest.fixture(scope="module")
def match():
    return arena.play(["advance", "random"], games=400, rules=TWO, seed=1)


@pytest.fixture(scope="module")
def tournament():
    agents = ["advance", "random", "careful", "first"]
    return arena.play(agents, games=1200, rules=Rules(num_players=3), seed=1)


def test_independent_games_have_wilsons_interval(match):
    wins = int((match.places_of(0) == 1).sum())
    own = summary(match)["agents"][0]
    assert own["wins"] == wins
    assert own["win_rate_95"] == list(stats.wilson(wins, 400))


def test_games_of_common_dice_have_the_interval_of_their_blocks():
    results = arena.play(["careful", "advance"], games=400, rules=TWO, seed=1, common_dice=True)
    wins = [int(results.seating[i, results.places[i].argmin()] == 0) for i in range(400)]
    blocks = np.array(wins).reshape(200, 2).mean(axis=1)
    mean, interval = stats.mean_interval(blocks)
    own = summary(results)["agents"][0]
    assert own["win_rate"] == pytest.approx(mean)
    assert own["win_rate_95"] == pytest.approx(list(interval))
    assert "blocks" in table(summary(results)) or summary(results)["common_dice"]


def test_equal_agents_with_common_dice_win_half_to_the_last_game():
    results = arena.play(["advance", "advance"], games=100, rules=TWO, seed=1, common_dice=True)
    assert results.win_rate(0) == 0.5
    assert summary(results)["agents"][0]["win_rate_95"] == [0.5, 0.5]


def test_win_rates_by_seat_are_those_of_the_seats(tournament):
    for agent, own in enumerate(summary(tournament)["agents"]):
        for seat in range(3):
            places = tournament.places[tournament.seating[:, seat] == agent, seat]
            assert own["win_rate_by_seat"][seat] == pytest.approx((places == 1).mean())


def test_superiority_counts_games_before_each_other(tournament):
    found = superiority(tournament)
    before = met = 0.0
    for seating, places in zip(tournament.seating, tournament.places, strict=True):
        place = dict(zip(seating.tolist(), places.tolist(), strict=True))
        if 0 in place and 2 in place:
            met += 1
            before += 1.0 if place[0] < place[2] else 0.5 if place[0] == place[2] else 0.0
    assert found[0][2] == pytest.approx(before / met)
    assert found[2][0] == pytest.approx(1 - before / met)
    assert found[1][1] is None


def test_ratings_put_random_at_nothing_and_stand_on_the_places(tournament):
    found = summary(tournament)["ratings"]
    assert found["anchor"] == "random"
    assert found["points"][1] == 0
    own = arena.ratings.rate(tournament.seating, tournament.places, tournament.blocks, anchor=1)
    assert found["points"] == pytest.approx(own.points.tolist(), abs=1e-5)


def test_who_cannot_be_rated_is_said_in_a_sentence():
    class Loser:
        def act(self, batch, rows):
            raise RuntimeError

    agents = ["advance", "random", Loser()]
    results = arena.play(agents, games=60, rules=TWO, seed=1, forfeit=True)
    found = summary(results)
    assert "never behind" in found["ratings"]["reason"]
    assert "never behind" in table(found)
    assert set(plots.pictures(results, found)) == {"win_rates", "over_games", "cross_table"}


def test_behaviour_is_what_was_noted(match):
    found = behaviour(match, 0)
    rows, players = match.seats_of(0)
    total = dict(zip(NOTES, match.notes[rows, players].sum(axis=0).tolist(), strict=True))
    assert found["captures_per_game"] == total["captures"] / 400
    assert found["with_a_choice"] == total["choices"] / total["decisions"]
    assert found["free_captures_taken"] is None  # captures are mandatory


def test_thinking_time_is_told_of_the_agents_that_were_asked():
    found = summary(arena.play(["expectimax:1", "advance"], games=4, rules=TWO, seed=1))
    asked, compiled = (agent["behaviour"]["seconds_per_decision"] for agent in found["agents"])
    assert asked > 0
    assert compiled is None
    assert behaviour_rows(found)[-1] == ("seconds per decision", f"{asked:.1e}", "-")


def test_an_agent_that_captures_when_free_is_told_from_one_that_does_not():
    free = Rules(num_players=2, mandatory_capture=False)
    results = arena.play(["advance", "first"], games=200, rules=free, seed=1)
    always, seldom = (behaviour(results, agent)["free_captures_taken"] for agent in (0, 1))
    assert always == 1.0
    assert 0.0 < seldom < 1.0


def test_nothing_played_is_no_fault_of_the_report():
    schedule = arena.Schedule(TWO, 2, 10, 1)
    empty = arena.Results.of(schedule, ("a", "b"), [])
    found = json.loads(json.dumps(summary(empty)))
    assert found["games"] == 0
    assert found["agents"][0]["win_rate"] is None
    assert "a" in table(found)


def test_two_matches_by_the_same_dice_are_compared_block_by_block():
    chosen = {"games": 600, "rules": TWO, "seed": 4}
    one, other = (arena.play([name, "advance"], **chosen) for name in ("careful", "random"))
    found = arena.compare(one, other)
    assert found.mean == pytest.approx(one.win_rate(0) - other.win_rate(0))
    wins = []
    for results in (one, other):
        won = [results.seating[i, results.places[i].argmin()] == 0 for i in range(600)]
        wins.append(np.array(won).reshape(300, 2).mean(axis=1))
    mean, interval = stats.mean_interval(wins[0] - wins[1])
    assert (found.mean, found.interval) == (pytest.approx(mean), pytest.approx(interval))
    assert 0.3 < found.variance_left < 1.0  # the same dice
    assert arena.compare(one, one).interval == (0.0, 0.0)


@pytest.mark.parametrize("changed", [{"seed": 5}, {"games": 602}, {"rules": Rules(2, 3)}])
def test_matches_of_other_games_are_not_compared(changed, match):
    other = arena.play(["first", "random"], **({"games": 400, "rules": TWO, "seed": 1} | changed))
    with pytest.raises(ValueError, match="same rules, seed and games"):
        arena.compare(match, other)


def test_pictures_are_those_of_the_kind_of_results(match, tournament):
    assert set(plots.pictures(match, summary(match))) == {"win_rates", "over_games"}
    drawn = plots.pictures(tournament, summary(tournament))
    assert set(drawn) == {"win_rates", "over_games", "cross_table", "ratings"}
    names = [label.get_text() for label in drawn["ratings"].axes[0].get_yticklabels()]
    points = summary(tournament)["ratings"]["points"]
    assert names == [tournament.names[k] for k in np.argsort(points)]


class Reader(HTMLParser):
    """Checks that tags close, and keeps cells and addresses."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.addresses = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "path", "use"):
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag not in ("meta", "path", "use"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


def test_the_page_holds_all_and_needs_nothing_else(tournament):
    found = summary(tournament)
    text = page(tournament, found, "ludo evaluate <here>")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert f"{found['agents'][0]['win_rate']:.4f}" in reader.cells
    assert f"{found['ratings']['points'][2]:.0f}" in reader.cells
    assert text.count("<svg") == 4
    assert "ludo evaluate &lt;here&gt;" in text
    outside = [a for a in reader.addresses if a and not a.startswith("#")]
    assert outside == []


def test_the_command_writes_rows_pictures_and_a_page(tmp_path, capsys):
    target = {name: str(tmp_path / name) for name in ("rows.csv", "page.html", "plots", "games")}
    arguments = ["evaluate", "advance", "--against", "random", "first", "--round-robin"]
    arguments += ["--games", "60", "--seed", "1", "--csv", target["rows.csv"]]
    arguments += ["--report", target["page.html"], "--plots", target["plots"]]
    arguments += ["--output", target["games"], "--behaviour"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^advance +\d+ +", printed.split("points")[1], re.MULTILINE)
    assert "captures per game" in printed
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert sum(row["won"] == "True" for row in rows) == 60
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {
        "win_rates.png",
        "over_games.png",
        "cross_table.png",
        "ratings.png",
    }
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert len(arena.load(tmp_path / "games")) == 60
    assert main([*arguments, "--resume"]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    "wrong",
    [
        ["--until", "2"],
        ["--max-rolls", "0"],
        ["--processes", "0"],
        ["--max-faults", "0"],
        ["--resume"],
        ["--output", "/no/such/folder/games"],
        ["--round-robin", "--games", "7"],
        ["--games", "200000000"],
        ["--csv", "/no/such/folder/rows.csv"],
        ["--csv", "/"],
        ["--report", "/no/such/folder/page.html"],
        ["--plots", "/no/such/folder/plots"],
    ],
)
def test_wrong_flags_of_a_match_are_refused_in_one_line(wrong, capsys):
    assert main(["evaluate", "random", "--games", "4", *wrong]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ludo: error: ")
    assert printed.err.count("\n") == 1


def test_what_is_given_away_is_the_loss_of_each_decision(tmp_path, capsys):
    rules = Rules(num_players=2, num_pawns=2)
    solution = solver.solve(rules)
    results = arena.play(["random", "advance"], games=6, rules=rules, seed=1)
    lost, choices = losses(results, solution)
    for row in range(6):
        game = Game(rules, seed=int(results.seeds[row]))
        expected = np.zeros((2, 2))
        for digit in results.actions[row]:
            values = solution.values_after(game.position)
            mover = game.player
            expected[0, mover] += max(values.values()) - values[int(digit)]
            expected[1, mover] += len(values) > 1
            game.play(int(digit))
        assert lost[row] == pytest.approx(expected[0])
        assert choices[row].tolist() == expected[1].tolist()
    perfect = arena.play([ExactAgent(solution)] * 2, games=20, rules=rules, seed=1)
    for agent in summary(perfect, solution)["agents"]:
        assert agent["behaviour"]["regret_per_choice"] == pytest.approx(0.0, abs=1e-9)
    solution.save(tmp_path / "two.solution")
    command = ["evaluate", "random", "--pawns", "2", "--games", "40", "--seed", "1"]
    command += ["--solution", str(tmp_path / "two.solution")]
    assert main(command) == 0
    assert "regret per choice" in capsys.readouterr().out
    assert main([*command, "--pawns", "3"]) == 2


def test_a_callback_measures_a_learner_while_it_trains():
    env = LudoVecEnv(8, num_players=3, opponents="random", seat="random", seed=1)
    trained = []
    for callback in (None, ArenaCallback(["random"], every=128, games=6)):
        env = LudoVecEnv(8, num_players=3, opponents="random", seat="random", seed=1)
        settings = {"n_steps": 8, "batch_size": 64, "n_epochs": 1, "device": "cpu", "seed": 1}
        model = MaskablePPO("MlpPolicy", env, **settings)
        model.learn(256, callback=callback)
        trained.append(model.policy.state_dict()["action_net.weight"].numpy())
    assert [point["steps"] for point in callback.points] == [0, 128, 256]
    found = callback.points[-1]["against"]["random"]
    assert found["games"] == 6
    assert found["rules"]["num_players"] == 3
    assert found["agents"][0]["name"] == "learner"
    np.testing.assert_array_equal(*trained)  # measuring changes nothing


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"against": ["nobody"]}, "nobody"), ({"every": 0}, "every"), ({"games": 0}, "games")],
)
def test_a_callback_refuses_what_cannot_be(wrong, message):
    with pytest.raises(ValueError, match=message):
        ArenaCallback(**wrong)
