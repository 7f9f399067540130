import json

import numpy as np
import pytest

from ludo_env import GameBatch, Rules, make_agent
from ludo_env.arena import play_match, summary, table
from ludo_env.core import rollout

TWO = Rules(num_players=2)


def agents(*specs):
    return [make_agent(spec, seed=i) for i, spec in enumerate(specs)]


def test_every_agent_sits_in_every_seat_equally_often():
    match = play_match(agents("random", "first", "advance"), games=12, rules=Rules(3), seed=1)
    for number in range(3):
        assert np.bincount(match.seats[:, number]).tolist() == [4, 4, 4]
    assert all(sorted(seats) == [0, 1, 2] for seats in match.seats.tolist())


def test_exactly_the_games_asked_for_each_with_a_seed_of_its_own():
    match = play_match(agents("random", "advance"), games=50, rules=TWO, seed=1)
    assert len(match) == 50
    assert len(set(match.seeds.tolist())) == 50
    assert (match.wins.sum(axis=1) == 1).all()


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_results_do_not_depend_on_the_batch_size(batch_size):
    chosen = {"games": 40, "rules": TWO, "seed": 3}
    one = play_match(agents("random", "advance"), **chosen, batch_size=16)
    other = play_match(agents("random", "advance"), **chosen, batch_size=batch_size)
    np.testing.assert_array_equal(one.places, other.places)


def test_a_match_is_the_same_for_the_same_seed_and_another_for_another():
    chosen = {"games": 40, "rules": TWO}
    first = play_match(agents("random", "random"), **chosen, seed=1)
    again = play_match(agents("random", "random"), **chosen, seed=1)
    other = play_match(agents("random", "random"), **chosen, seed=2)
    np.testing.assert_array_equal(first.places, again.places)
    assert (first.places != other.places).any()


def test_four_copies_of_random_win_a_quarter_each():
    match = play_match(agents(*["random"] * 4), games=4000, seed=11)
    error = np.sqrt(0.25 * 0.75 / 4000)
    assert np.abs(match.wins.mean(axis=0) - 0.25).max() < 4 * error


def test_places_are_the_games_own():
    chosen = agents("first", "advance")
    match = play_match(chosen, games=6, rules=TWO, seed=9)
    for game in range(6):
        batch = GameBatch(1, TWO, seed=[int(match.seeds[game])])
        while not batch.finished[0]:
            agent = match.seats[game].tolist().index(batch.players[0])
            batch.step(chosen[agent].act(batch, np.array([0])))
        assert match.places[game].tolist() == batch.places()[0][match.seats[game]].tolist()


class Recorder:
    """Plays first, and keeps what it was shown."""

    def __init__(self):
        self.shown = []

    def act(self, batch, rows):
        self.shown.append((batch, rows))
        return batch.scripted_actions(rows, "first")


def test_agents_are_shown_games_whose_coming_dice_are_not_those_rolled():
    recorder = Recorder()
    play_match([recorder, recorder], games=2, rules=TWO, seed=4, batch_size=1)
    foretold = rolled = 0
    for (shown, rows), (later, later_rows) in zip(recorder.shown, recorder.shown[1:], strict=False):
        future = shown.copy()
        future.play(rows, shown.scripted_actions(rows, "first"))
        foretold += future.dice[rows[0]] == later.dice[later_rows[0]]
        rolled += 1
    assert foretold / rolled < 0.5  # dice that were known would agree always


class Answers:
    def __init__(self, answer):
        self.answer = answer

    def act(self, batch, rows):
        return self.answer(rows)

    def __repr__(self):
        return "Answers"


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda rows: np.full(len(rows), 3), "illegal"),
        (lambda rows: np.zeros(len(rows)), "must return integers"),
        (lambda rows: np.zeros(len(rows) + 1, dtype=int), "must return integers of shape"),
        (lambda _: None, "must return integers"),
        (lambda rows: np.full(len(rows), np.nan), "must return integers"),
    ],
)
def test_an_agent_that_answers_nonsense_is_named(answer, complaint):
    with pytest.raises(ValueError, match=f"Answers.*{complaint}"):
        play_match([Answers(answer), *agents("random")], games=2, rules=TWO, seed=1)


@pytest.mark.parametrize("games", [0, -2, 3, 2.0, True])
def test_a_number_of_games_that_cannot_be_is_refused(games):
    with pytest.raises(ValueError, match="games must be"):
        play_match(agents("random", "random"), games=games, rules=TWO)


def test_one_agent_for_each_player():
    with pytest.raises(ValueError, match="agents must be 2"):
        play_match(agents("random"), games=2, rules=TWO)


def test_summary_says_what_json_can_hold_and_the_table_shows_it():
    match = play_match(agents("advance", "random", "random"), games=30, rules=Rules(3), seed=2)
    results = json.loads(json.dumps(summary(match)))
    assert [agent["name"] for agent in results["agents"]] == ["advance", "random", "random (2)"]
    assert sum(agent["wins"] for agent in results["agents"]) == 30
    own = results["agents"][0]
    assert own["win_rate_95"][0] < own["win_rate"] < own["win_rate_95"][1]
    assert np.mean(own["win_rate_by_seat"]) == pytest.approx(own["win_rate"])
    assert f"{own['win_rate']:.4f}" in table(results)


def test_the_totals_have_a_name_each():
    assert len(set(rollout.TOTALS)) == len(rollout.TOTALS)
