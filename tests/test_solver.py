"""Exact play: solutions, exact win rates, and how they are reached."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from itertools import product

import numpy as np
import pytest
from plain_solver import all_pawns, outcomes, possible, solve_plainly, tries, turn_value

from ludo_env import OBSERVATION, GameBatch, Position, Rules, make_agent, solver
from ludo_env.agents.exact import ExactAgent
from ludo_env.arena import play
from ludo_env.core import sweep
from ludo_env.core.boards import Boards
from ludo_env.core.scripted import POLICIES
from ludo_env.solution import NARROW, WIDE, Solution
from ludo_env.solver import solving
from ludo_env.solver.duel import Duel, Ground
from ludo_env.solver.policies import as_agent, play_of
from ludo_env.solver.solving import PERFECT

ONE, TWO = Rules(2, 1), Rules(2, 2)
OPTIONS = [Rules(2, 2, capture, jumps) for capture, jumps in product((True, False), repeat=2)]


def text(own, other, die="-"):
    return f"{'.'.join(map(str, own))}/{'.'.join(map(str, other))} 0 {die}"


def some_pairs(rules, number, seed=1):
    """Possible positions, as both players' pawns."""
    boards = list(all_pawns(rules))
    chooser = np.random.default_rng(seed)
    drawn = (tuple(boards[k] for k in chooser.integers(0, len(boards), 2)) for _ in range(10**6))
    pairs = (pair for pair in drawn if possible(*pair))
    return [next(pairs) for _ in range(number)]


@cache
def reply(policy):
    """How often the best reply to a policy wins with two pawns."""
    return solver.best_response(policy, TWO, tolerance=1e-6)


@cache
def rates(a, b):
    """How often one policy wins against another with two pawns."""
    return solver.win_probability(a, b, TWO, tolerance=1e-6)


def may_spare(own, other):
    """Whether some die lets the mover capture or not, but for R14."""
    free = Rules(2, len(own), mandatory_capture=False)
    for die in range(1, 7):
        captures = {o.other != other for o in outcomes(free, own, other, die).values()}
        if len(captures) == 2:
            return True
    return False


def best(own, other, die, after):
    return max(after.values())


# Values


@pytest.mark.parametrize(("on_start", "expected"), [(False, 0.52091555), (True, 0.52652484)])
def test_with_one_pawn_the_first_player_wins_as_often_as_known(solved, on_start, expected):
    rules = Rules(2, 1, pawn_on_start=on_start)
    assert solved(rules).start == pytest.approx(expected, abs=1e-8)


def test_one_pawns_values_are_those_of_the_plain_solver(solved):
    solution = solved(ONE)
    boards = list(all_pawns(ONE))
    pairs = {pair for pair in product(boards, repeat=2) if possible(*pair)}
    for (own, other), value in solve_plainly(ONE, pairs, sweeps=200).items():
        assert solution.value(text(own, other)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("rules", OPTIONS, ids=str)
def test_two_pawns_values_are_what_the_best_moves_of_the_reference_lead_to(solved, rules):
    """Values of all positions that agree with their successors' are the game's: it always ends."""
    solution = solved(rules)

    def rolls(own, other):
        return solution.value(text(own, other))

    contested = [pair for pair in some_pairs(rules, 2000) if may_spare(*pair)]
    assert len(contested) > 200
    for own, other in [*some_pairs(rules, 150), *contested]:
        expected = turn_value(rules, own, other, rolls, best)
        assert rolls(own, other) == pytest.approx(expected, abs=1e-11), (own, other)


def test_options_change_the_values(solved):
    starts = {rules: solved(rules).start for rules in OPTIONS}
    assert len({round(value, 6) for value in starts.values()}) == 4
    assert all(0.5 < value < 0.53 for value in starts.values())
    assert starts[TWO] == pytest.approx(0.510482548, abs=1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_no_value_is_off_by_more_than_the_stated_error(solved, tolerance):
    rough = solver.solve(TWO, tolerance=tolerance)
    off = np.abs(rough.table - solved(TWO).table).max() / rough.one
    assert tolerance / 1000 < off <= rough.error + solved(TWO).error
    assert rough.error <= tolerance


def test_the_stated_error_is_half_the_distance_of_the_bounds():
    sweeps = []
    solver.solve(TWO, tolerance=1e-3, report=sweeps.append)
    duel = Duel(Ground(TWO), PERFECT, PERFECT)
    for reported in sweeps:
        duel.sweep()
        distance = (duel.b.rolls - duel.a.rolls).max() / duel.ground.scale.one
        assert reported.bound == pytest.approx(distance / 2, abs=1e-13)


def test_bounds_only_tighten_and_always_hold_the_value(solved):
    duel = Duel(Ground(TWO), PERFECT, PERFECT)
    table = solved(TWO).table
    slack = round(solved(TWO).error * solved(TWO).one)
    for _ in range(12):
        lower, upper = duel.a.rolls.copy(), duel.b.rolls.copy()
        duel.sweep()
        assert (duel.a.rolls >= lower).all()
        assert (duel.b.rolls <= upper).all()
        assert (duel.a.rolls <= table + slack).all()
        assert (duel.b.rolls >= table - slack).all()


def test_who_waits_has_what_the_roller_has_not():
    duel = Duel(Ground(TWO), PERFECT, PERFECT)
    for _ in range(3):
        duel.sweep()
    one = duel.ground.scale.one
    ongoing = slice(0, -1)
    assert (duel.a.waits == one - duel.b.rolls.T)[ongoing, ongoing].all()
    assert (duel.b.waits == one - duel.a.rolls.T)[ongoing, ongoing].all()


@pytest.mark.parametrize("num_threads", [2, 3])
def test_threads_change_no_value(many_threads, num_threads):
    tables = [solver.solve(TWO, tolerance=1e-3, num_threads=n).table for n in (1, num_threads)]
    assert (tables[0] == tables[1]).all()
    assert num_threads in many_threads


SWEEPS = """
import hashlib
import numpy as np
from ludo_env import Rules
from ludo_env.solution import NARROW, WIDE, Solution
from ludo_env.solver import solving
from ludo_env.solver.duel import Duel, Ground
from ludo_env.solver.policies import as_agent, play_of
from ludo_env.solver.solving import PERFECT
ground = Ground(Rules(2, 1))
plays = [play_of(as_agent(name), ground, 1) for name in ("random", "advance")]
digest = hashlib.sha256()
for a, b in ((PERFECT, PERFECT), (PERFECT, plays[0]), plays):
    duel = Duel(ground, a, b, 1)
    for _ in range(2):
        duel.sweep()
    for side in (duel.a, duel.b):
        digest.update(side.rolls.tobytes() + side.waits.tobytes())
print(digest.hexdigest())
"""


def test_without_compilation_every_sweep_is_the_same():
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    digests = [
        subprocess.run(
            [sys.executable, "-c", SWEEPS],
            env={**environment, **extra},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for extra in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 65


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (Rules(3, 2), "2 players"),
        (Rules(4), "2 players"),
        (Rules(2, 4), "1 to 3 pawns"),
        ("two pawns", "Rules"),
    ],
)
def test_games_that_cannot_be_solved_are_refused(rules, why):
    for call in (
        solver.solve,
        lambda rules: solver.best_response("random", rules),
        lambda rules: solver.win_probability("random", "random", rules),
        lambda rules: solver.regret("random", rules),
    ):
        with pytest.raises(ValueError, match=why):
            call(rules)


@pytest.mark.parametrize("tolerance", [0, 1, -1e-3, "small", True, float("nan")])
def test_a_tolerance_is_a_number_between_0_and_1(tolerance):
    with pytest.raises(ValueError, match="tolerance"):
        solver.solve(ONE, tolerance=tolerance)
    with pytest.raises(ValueError, match="tolerance"):
        solver.best_response("random", ONE, tolerance=tolerance)


def test_a_tolerance_that_rounding_does_not_allow_is_refused():
    with pytest.raises(ValueError, match="tolerance must be at least"):
        solver.win_probability("first", "random", ONE, tolerance=1e-18)
    assert 0 < solver.solve(ONE, tolerance=1e-18).error < 1e-12


def test_a_policy_judged_once_gets_what_it_gets_apart(solved):
    perfect, reply_to_it = solver.judge("advance", solved(TWO), tolerance=1e-6)
    assert perfect == rates("advance", solved(TWO))
    assert reply_to_it == reply("advance")


@pytest.mark.parametrize("num_threads", [0, -1, 1.5])
def test_threads_are_counted_from_one(num_threads):
    with pytest.raises(ValueError, match="num_threads"):
        solver.solve(ONE, num_threads=num_threads)


def test_sweeps_are_reported_with_a_bound_that_falls():
    sweeps = []
    solution = solver.solve(TWO, report=sweeps.append)
    assert [s.number for s in sweeps] == list(range(1, len(sweeps) + 1))
    bounds = [s.bound for s in sweeps]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == solution.error
    assert sweeps[-1].seconds_left == 0
    assert all(s.seconds > 0 for s in sweeps)


# Interrupted work


class _StopError(Exception):
    pass


def stop_after(number):
    def report(sweep):
        if sweep.number == number:
            raise _StopError

    return report


def test_interrupted_work_goes_on_where_it_stopped(solved, tmp_path):
    path = tmp_path / "two.solution"
    with pytest.raises(_StopError):
        solver.solve(TWO, report=stop_after(20), save=path)
    assert list(tmp_path.iterdir()) == [tmp_path / "two.solution.partial"]
    numbers = []
    solution = solver.solve(TWO, report=lambda sweep: numbers.append(sweep.number), save=path)
    assert numbers[0] == 21
    assert (solution.table == solved(TWO).table).all()
    assert solution.error == solved(TWO).error
    assert list(tmp_path.iterdir()) == [path]
    assert (Solution.load(path).table == solution.table).all()


def test_work_that_cannot_be_saved_at_its_end_is_kept(solved, tmp_path, monkeypatch):
    path, partial = tmp_path / "two.solution", tmp_path / "two.solution.partial"

    def fail(*_):
        raise ValueError("cannot write")

    with monkeypatch.context() as patch:
        patch.setattr(Solution, "save", fail)
        with pytest.raises(ValueError, match="cannot write"):
            solver.solve(TWO, save=path)
    assert list(tmp_path.iterdir()) == [partial]
    sweeps = []
    solution = solver.solve(TWO, save=path, report=sweeps.append)
    assert sweeps == []
    assert (solution.table == solved(TWO).table).all()
    assert list(tmp_path.iterdir()) == [path]


def test_the_disk_is_looked_at_before_the_work(tmp_path):
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "nowhere" / "file", tmp_path / "folder", "", 3, "a\0b"):
        with pytest.raises(ValueError, match="save"):
            solver.solve(TWO, save=target, report=lambda _: pytest.fail("worked for nothing"))


def test_a_full_disk_on_the_way_does_not_stop_the_work(tmp_path, monkeypatch):
    def fail(*_):
        raise ValueError("no space")

    monkeypatch.setattr(solving, "_CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(solving, "write_tables", fail)
    assert solver.solve(ONE, save=tmp_path / "one.solution").error <= 1e-12
    assert list(tmp_path.iterdir()) == [tmp_path / "one.solution"]


def test_unfinished_work_of_other_rules_is_refused(tmp_path):
    path, partial = tmp_path / "two.solution", tmp_path / "two.solution.partial"
    with pytest.raises(_StopError):
        solver.solve(TWO, report=stop_after(2), save=path)
    kept = partial.read_bytes()
    with pytest.raises(ValueError, match="remove it to begin anew"):
        solver.solve(Rules(2, 2, False), save=path)
    assert partial.read_bytes() == kept


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: b"x" * 99,
        lambda content: b"",
        lambda content: content[:-8] + bytes(8),
        lambda content: content[:4096] + bytes(len(content) - 4096),
        lambda content: content.replace(b'"sweeps": 2', b'"sweeps":"x'),
        lambda content: content.replace(b'"format": 1', b'"format": 2'),
        lambda content: b"ludo_env unfinished solution\n5\n" + content[31:],
    ],
)
def test_damaged_unfinished_work_is_refused(tmp_path, damage):
    path, partial = tmp_path / "one.solution", tmp_path / "one.solution.partial"
    with pytest.raises(_StopError):
        solver.solve(ONE, report=stop_after(2), save=path)
    partial.write_bytes(damage(partial.read_bytes()))
    with pytest.raises(ValueError, match="remove it to begin anew"):
        solver.solve(ONE, save=path)
    assert not path.exists()


# Exact win rates


def test_the_best_reply_wins_as_often_as_known():
    assert reply("random").mean == pytest.approx(0.656, abs=5e-4)
    assert reply("advance").mean == pytest.approx(0.549, abs=5e-4)


def test_perfect_play_against_itself_wins_what_the_solution_says(solved):
    found = solver.win_probability(solved(TWO), solved(TWO), TWO)
    assert found.first == pytest.approx(solved(TWO).start, abs=1e-10)
    assert found.second == pytest.approx(1 - solved(TWO).start, abs=1e-10)


def test_no_reply_to_perfect_play_is_better_than_perfect_play(solved):
    assert reply(solved(TWO)).first == pytest.approx(solved(TWO).start, abs=1e-6)


def test_win_rates_of_both_sides_make_up_one():
    ours, theirs = rates("advance", "random"), rates("random", "advance")
    assert ours.first + theirs.second == pytest.approx(1, abs=1e-5)
    assert ours.second + theirs.first == pytest.approx(1, abs=1e-5)
    assert ours.first > ours.second > 0.5


def test_perfect_play_lies_between_the_policy_and_its_best_reply(solved):
    for policy in ("random", "advance"):
        perfect = rates(solved(TWO), policy)
        assert perfect.mean > 0.5
        for seat in (0, 1):
            assert perfect[seat] < reply(policy)[seat]


@pytest.mark.parametrize("policy", ["random", "advance", "careful"])
@pytest.mark.parametrize("rules", [OPTIONS[0], OPTIONS[3]], ids=str)
def test_a_policys_chances_are_what_its_moves_of_the_reference_lead_to(policy, rules):
    """Against a policy that is asked move by move, with the batch's own choice of actions."""
    ground = Ground(rules)
    duel = Duel(ground, play_of(as_agent(policy), ground, 1), play_of(as_agent("first"), ground, 1))
    while duel.sweep() > 1e-13:
        pass

    def choose(own, other, die, after):
        if policy == "random":
            return sum(after.values()) / len(after)
        batch = GameBatch.from_positions([text(own, other, die)], rules, seed=1)
        return after[int(make_agent(policy).act(batch, np.array([0]))[0])]

    for own, other in some_pairs(rules, 60):
        i, j = number(ground, own), number(ground, other)
        expected = policy_turn(rules, own, other, duel.a, ground, choose)
        assert duel.a.rolls[i, j] / ground.scale.one == pytest.approx(expected, abs=1e-11)


def number(ground, pawns):
    return int(ground.boards.number(sum(1 << p - 1 for p in pawns if p)))


def policy_turn(rules, own, other, side, ground, choose):
    """What a turn is worth by a side's own tables."""

    def chance(table, mine, theirs):
        return table[number(ground, mine), number(ground, theirs)] / ground.scale.one

    worth = []
    for die in range(1, 7):
        table = side.rolls if die == 6 else side.waits
        after = {
            action: 1.0 if o.won else chance(table, o.own, o.other)
            for action, o in outcomes(rules, own, other, die).items()
        }
        worth.append(choose(own, other, die, after) if after else None)
    value = chance(side.waits, own, other)
    for _ in range(tries(rules, own, other)):
        value = sum(value if w is None else w for w in worth) / 6
    return value


def least_advanced(batch, rows):
    return 3 - batch.masks(rows)[:, ::-1].argmax(axis=1)


def test_a_function_of_a_batch_and_rows_is_a_policy(solved):
    assert rates(least_advanced, "advance").mean < 0.5


def test_a_policy_that_is_asked_gets_what_compiled_ones_get():
    class Advance:
        def act(self, batch, rows):
            return batch.scripted_actions(rows, "advance")

    assert solver.best_response(Advance(), TWO, tolerance=1e-6) == reply("advance")


class Knows:
    """Evaluates what it sees by a solution, perhaps the other way round."""

    def __init__(self, solution, reverse=False):
        self.solution, self.reverse = solution, reverse
        self.boards = Boards(solution.rules.num_pawns)

    def act(self, batch, rows):
        raise AssertionError("not to be asked")

    def win_probabilities(self, observations):
        seen = observations.astype(np.int64)
        assert not seen[:, OBSERVATION["die"]].any()
        own = sum(
            np.where(pawn > 0, 1 << np.maximum(pawn - 1, 0), 0)
            for pawn in (seen[:, OBSERVATION[f"pawn_{k}"]].argmax(axis=1) for k in range(2))
        )
        track = seen[:, OBSERVATION["opponent_2_track"]] << (np.arange(40) + 20) % 40
        column = seen[:, OBSERVATION["opponent_2_column"]] << 40 + np.arange(4)
        other = track.sum(axis=1) + column.sum(axis=1)
        held = self.solution.table[self.boards.number(own), self.boards.number(other)]
        return 1 - held / self.solution.one if self.reverse else held / self.solution.one


def test_a_policy_that_evaluates_positions_plays_what_it_thinks_best(solved):
    """One that knows the values is perfect; with their reverse it is worse than random."""
    solution = solved(TWO)
    assert rates(Knows(solution), solution).first == pytest.approx(solution.start, abs=1e-5)
    assert rates(Knows(solution, reverse=True), "random").mean < 0.4


def drawing(batch, rows):
    return batch.scripted_actions(rows, "random")


def by_seat(batch, rows):
    first = batch.scripted_actions(rows, "first")
    return np.where(batch.players[rows] == 0, first, least_advanced(batch, rows))


def drawing_late(batch, rows):
    """Draws at random once both pawns are past the middle of the track."""
    own = batch.pawns(rows)[np.arange(len(rows)), batch.players[rows]]
    late = own.min(axis=1) > 20
    drawn, first = drawing(batch, rows), batch.scripted_actions(rows, "first")
    return np.where(late, drawn, first)


def failing(batch, rows):
    raise KeyError("lost")


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (drawing, "drawing must play by the position alone"),
        (by_seat, "must play by the position alone"),
        (drawing_late, "must play by the position alone"),
        (failing, "failing failed: KeyError"),
        (lambda batch, rows: np.full(len(rows), 2), "illegal"),
        (lambda batch, rows: np.full(len(rows), 7), "illegal"),
        (lambda batch, rows: np.full(len(rows), -1), "illegal"),
        (lambda batch, rows: [0.5] * len(rows), "must return integers"),
        (lambda batch, rows: None, "must return integers"),
        ("nobody", "unknown agent"),
        (7, "agent must be"),
        (ExactAgent, "agent must be"),
    ],
)
def test_policies_without_an_exact_value_are_refused(policy, why):
    with pytest.raises(ValueError, match=why):
        solver.best_response(policy, TWO)


@pytest.mark.parametrize(
    "answer",
    [
        lambda k: np.full(k, 2.0),
        lambda k: np.full(k, np.nan),
        lambda k: np.zeros(k + 1),
        lambda k: ["x"] * k,
        lambda k: [[0.5], [0.5, 0.5]],
        lambda k: None,
        lambda k: np.random.default_rng().random(k),
    ],
)
def test_evaluations_are_win_probabilities_and_always_the_same(answer):
    class Evaluates:
        def act(self, batch, rows):
            return batch.masks(rows).argmax(axis=1)

        def win_probabilities(self, observations):
            return answer(len(observations))

    with pytest.raises(ValueError, match=r"agent .*Evaluates.* must"):
        solver.best_response(Evaluates(), TWO)


def test_three_pawns_are_too_many_to_ask_about():
    with pytest.raises(ValueError, match="sampled regret"):
        solver.best_response(least_advanced, Rules(2, 3))


def test_a_solution_of_other_rules_is_no_policy(solved):
    with pytest.raises(ValueError, match="solves"):
        solver.best_response(solved(ONE), TWO)


@pytest.mark.parametrize("policy", POLICIES)
def test_scripted_plans_hold_what_the_policies_play(policy):
    """Every die of some positions, through the same games that agents play."""
    rules = TWO
    ground = Ground(rules)
    play = play_of(as_agent(policy), ground, 1)
    if policy == "random":
        assert play.kind == sweep.UNIFORM
        return
    agent = make_agent(policy)
    for own, other in some_pairs(rules, 100):
        i, j = number(ground, own), number(ground, other)
        for die in range(1, 7):
            after = outcomes(rules, own, other, die)
            if not after:
                continue
            batch = GameBatch.from_positions([text(own, other, die)], rules, seed=1)
            o = after[int(agent.act(batch, np.array([0]))[0])]
            k = play.plan[i, j] >> 2 * (die - 1) & 3
            assert ground.tables.target[i, die - 1, k] == number(ground, o.own)


# Games


@pytest.mark.parametrize("opponent", ["advance", "random", "itself"])
def test_games_of_perfect_play_are_won_as_often_as_computed(solved, opponent):
    perfect = ExactAgent(solved(TWO))
    other = perfect if opponent == "itself" else make_agent(opponent, seed=1)
    known = rates(solved(TWO), solved(TWO) if opponent == "itself" else opponent)
    games = 20_000
    match = play([perfect, other], games=games, rules=TWO, seed=5)
    for seat, expected in enumerate(known):
        wins = match.places[match.seating[:, seat] == 0, seat] == 1
        error = np.sqrt(expected * (1 - expected) / len(wins))
        assert abs(wins.mean() - expected) < 4 * error


def test_positions_are_worth_the_same_from_both_seats(solved):
    for own, other in some_pairs(TWO, 20):
        there = Position((own, other), 0)
        here = Position((other, own), 1)
        assert solved(TWO).value(there) == solved(TWO).value(here)


@pytest.mark.parametrize("kind", ["perfect", "random", "advance"])
def test_chances_in_four_bytes_are_as_good_as_their_rounding(kind):
    """Three pawns' tables have four bytes a chance; here two pawns' have."""
    starts = []
    for scale in (WIDE, NARROW):
        ground = Ground(TWO)
        ground.scale = scale
        play = PERFECT if kind == "perfect" else play_of(as_agent(kind), ground, 1)
        for own, other in ((PERFECT, play), (play, PERFECT)):
            duel = Duel(ground, own, other)
            for _ in range(40):
                duel.sweep()
            for side in (duel.a, duel.b):
                assert side.rolls.dtype == scale.dtype
                starts.append(side.rolls[0, 0] / scale.one)
    wide, narrow = np.array(starts).reshape(2, 4)
    assert np.abs(wide - narrow).max() < 2e-8
    assert (narrow[[0, 2]] <= wide[[0, 2]]).all()  # what comes from below is rounded down
    assert (narrow[[1, 3]] >= wide[[1, 3]]).all()
