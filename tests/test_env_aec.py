"""The game as PettingZoo's AEC environment."""

from __future__ import annotations

import copy
import importlib
import pickle
import random
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, performance_benchmark, seed_test

from ludo_env import Game, GameBatch, IllegalMoveError, Position, Rules, ludo_v0
from ludo_env.rewards import Shaped

ENV_ID = "ludo_env/Ludo-v0"
PLAYERS = (2, 3, 4)
VARIANTS = {
    "two players": {"num_players": 2},
    "three players": {"num_players": 3},
    "four players": {"num_players": 4},
    "forced moves skipped": {"num_players": 4, "auto_forced": True},
    "shaped": {"num_players": 2, "reward": "shaped"},
    "truncated": {"num_players": 3, "max_rolls": 120, "reward": "place"},
    "all at once": {
        "num_players": 2,
        "auto_forced": True,
        "reward": Shaped(0.9),
        "max_rolls": 300,
        "home_jumps": True,
    },
}
EXPECTED_WARNINGS = {
    # Masked games observe a dictionary, and have nothing to play once they are over.
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
    "Action mask numpy array is all zeros (no legal actions).",
}
WINS_WITH_A_1 = "44.43.42.40/7.3.0.0 0 1"  # by action 3
TWO_CHOICES = "20.10.0.0/12.0.0.0 0 3"

variants = pytest.mark.parametrize("kwargs", VARIANTS.values(), ids=VARIANTS)
both_kinds = pytest.mark.parametrize("make", [ludo_v0.env, ludo_v0.raw_env], ids=["env", "raw_env"])


def choice(mask: np.ndarray, draw: random.Random) -> int:
    return draw.choice(np.flatnonzero(mask).tolist())


def turns(env: Any, seed: int = 0, limit: int | None = None) -> Iterator[tuple[str, Any]]:
    """Play random legal moves until no agent is left; yields each agent and its ``last()``."""
    draw = random.Random(seed)
    made = 0
    while env.agents and made != limit:
        last = env.last()
        yield env.agent_selection, last
        is_dead = last[2] or last[3]
        env.step(None if is_dead else choice(last[0]["action_mask"], draw))
        made += 1


def play(env: Any, steps: int | None = None, seed: int = 0) -> None:
    for _ in turns(env, seed, steps):
        pass


def begun(make: Any = ludo_v0.raw_env, steps: int = 0, seed: int = 0, **kwargs: Any) -> Any:
    """An environment some random moves into a game."""
    env = make(**kwargs)
    env.reset(seed=seed)
    play(env, steps)
    return env


def shown(env: Any) -> dict[str, Any]:
    """All that an environment shows, dead agents included."""
    raw = env.unwrapped
    return {
        "agents": list(raw.agents),
        "selection": raw.agent_selection,
        "rewards": dict(raw.rewards),
        "cumulative": dict(raw._cumulative_rewards),
        "terminations": dict(raw.terminations),
        "truncations": dict(raw.truncations),
        "infos": raw.infos,
        "observations": {agent: raw.observe(agent) for agent in raw.possible_agents},
        "state": raw.state(),
        "position": str(raw.game.position),
    }


def assert_same(env: Any, other: Any) -> None:
    assert data_equivalence(shown(env), shown(other), exact=True)


def assert_same_future(env: Any, other: Any, steps: int = 70) -> None:
    """Two environments show the same now, under the same moves, and in their next game."""
    for _ in range(2):
        assert_same(env, other)
        for _ in zip(turns(env, limit=steps), turns(other, limit=steps), strict=True):
            assert_same(env, other)
        env.reset()
        other.reset()


def trace(env: Any, decisions: int = 60, **reset: Any) -> list[str]:
    """The positions of a game's first decisions, dice included."""
    env.reset(**reset)
    return [str(env.unwrapped.game.position) for _ in turns(env, limit=decisions)]


# ---------------------------------------------------------------- PettingZoo's own tests


@variants
def test_pettingzoos_api_test_passes_with_no_warning_but_those_of_masked_games(
    kwargs: dict[str, Any],
) -> None:
    env = ludo_v0.env(**kwargs)
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(number)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=300)
    assert {str(warning.message) for warning in caught} <= EXPECTED_WARNINGS


def test_pettingzoos_api_test_passes_for_the_unwrapped_environment() -> None:
    env = ludo_v0.raw_env(num_players=2)
    for agent in env.possible_agents:
        env.action_space(agent).seed(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=500)
    assert {str(warning.message) for warning in caught} <= EXPECTED_WARNINGS


@variants
def test_pettingzoos_seed_test_passes(kwargs: dict[str, Any]) -> None:
    seed_test(lambda: ludo_v0.env(**kwargs), num_cycles=500)


def test_pettingzoos_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now = 0.0

        def time(self) -> float:
            self.now += 0.05
            return self.now

    module = importlib.import_module(performance_benchmark.__module__)
    monkeypatch.setattr(module, "time", Clock())
    performance_benchmark(ludo_v0.env(num_players=2, max_rolls=100))


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has no registry")
def test_the_id_is_known_to_pettingzoos_registry_and_passes_keywords_on() -> None:
    env = pettingzoo.make("aec", ENV_ID, num_players=3, auto_forced=True)
    assert env.unwrapped.rules == Rules(3)
    assert env.unwrapped.auto_forced
    env.reset(seed=1)
    own = begun(ludo_v0.env, seed=1, num_players=3, auto_forced=True)
    assert_same_future(env, own)


# ---------------------------------------------------------------- agents, spaces, observations


@pytest.mark.parametrize("num_players", PLAYERS)
def test_agents_are_named_in_turn_order(num_players: int) -> None:
    env = begun(num_players=num_players)
    assert env.agents == env.possible_agents == [f"player_{i}" for i in range(num_players)]
    assert env.agents is not env.possible_agents
    env.reset(options={"position": "/".join(["20.0.0.0"] * num_players) + " 0 3", "dice": [3] * 9})
    order = [agent for agent, _ in turns(env, limit=9)]
    assert order == (env.possible_agents * 9)[:9]


def test_spaces_are_the_same_objects_at_every_call_and_equal_for_all_agents_and_games() -> None:
    envs = [ludo_v0.env(num_players=p, num_pawns=n) for p in PLAYERS for n in (1, 4)]
    first = envs[0]
    for env in envs:
        assert env.unwrapped.state_space == first.unwrapped.state_space
        for agent in env.possible_agents:
            assert env.observation_space(agent) is env.observation_space(agent)
            assert env.action_space(agent) is env.action_space(agent)
            assert env.observation_space(agent) == first.observation_space("player_0")
            assert env.action_space(agent) == gymnasium.spaces.Discrete(4)


def test_the_observation_space_is_a_dictionary_of_zeros_and_ones() -> None:
    space = ludo_v0.env().observation_space("player_0")
    assert isinstance(space, gymnasium.spaces.Dict)
    length = space["observation"].shape[0]
    assert space["observation"] == gymnasium.spaces.Box(0, 1, (length,), np.int8)
    assert space["action_mask"] == gymnasium.spaces.Box(0, 1, (4,), np.int8)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_an_action_space_once_seeded_stays_seeded_over_resets(num_players: int) -> None:
    env = ludo_v0.env(num_players=num_players)
    env.action_space("player_1").seed(5)
    env.reset(seed=0)
    drawn = [int(env.action_space("player_1").sample()) for _ in range(20)]
    fresh = gymnasium.spaces.Discrete(4, seed=5)
    assert drawn == [int(fresh.sample()) for _ in range(20)]


@variants
def test_the_mask_of_whoever_decides_is_the_games_and_all_others_are_zeros(
    kwargs: dict[str, Any],
) -> None:
    env = begun(ludo_v0.env, **kwargs)
    game = env.unwrapped.game
    for agent, (view, _, terminated, truncated, info) in turns(env):
        is_over = terminated or truncated
        assert env.observation_space(agent).contains(view)
        for other in env.agents:
            expected = np.zeros(4, np.int8)
            if other == agent and not is_over:
                expected = game.action_mask()
            assert env.observe(other)["action_mask"].tolist() == expected.tolist()
            assert env.infos[other]["action_mask"].tolist() == expected.tolist()
            assert env.infos[other]["action_mask"].dtype == np.int8
        assert view["action_mask"].any() == (not is_over)
        assert info is env.infos[agent]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_agent_sees_the_game_from_its_own_seat(num_players: int) -> None:
    env = begun(ludo_v0.env, num_players=num_players)
    for _ in turns(env, limit=100):
        for number, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)["observation"]
            assert seen.dtype == np.int8
            assert np.array_equal(seen, env.unwrapped.game.observation(number))


def test_last_without_observation_still_tells_the_mask_in_info() -> None:
    env = begun(ludo_v0.env, steps=10)
    view, *_, info = env.last(observe=False)
    assert view is None
    assert np.array_equal(info["action_mask"], env.unwrapped.game.action_mask())


def test_observations_are_new_arrays_that_their_receiver_may_write_on() -> None:
    env = begun(steps=10)
    agent = env.agent_selection
    before = env.observe(agent)
    spoilt = env.observe(agent)
    spoilt["observation"][:] = 1
    spoilt["action_mask"][:] = 1
    env.infos[agent]["action_mask"][:] = 1
    assert data_equivalence(env.observe(agent), before, exact=True)
    illegal = int(np.flatnonzero(before["action_mask"] == 0)[0])
    with pytest.raises(IllegalMoveError):
        env.step(illegal)


def test_an_observation_that_was_handed_out_never_changes() -> None:
    env = begun(ludo_v0.env, num_players=2, max_rolls=100)
    kept = [(last, copy.deepcopy(last)) for _, last in turns(env)]
    for handed_out, then in kept:
        assert data_equivalence(handed_out, then, exact=True)


def test_observing_an_agent_that_does_not_exist_is_an_error_that_names_those_who_do() -> None:
    env = begun(num_players=2)
    with pytest.raises(ValueError, match=r"player_0, player_1, got 'player_2'"):
        env.observe("player_2")


@pytest.mark.parametrize("num_players", PLAYERS)
def test_after_a_reset_every_agent_has_all_entries_and_a_mask_alone_for_info(
    num_players: int,
) -> None:
    env = begun(ludo_v0.env, num_players=num_players)
    for _ in range(3):
        agents = set(env.possible_agents)
        for entries in (env.rewards, env.terminations, env.truncations, env.infos):
            assert set(entries) == agents
        assert all(set(info) == {"action_mask"} for info in env.infos.values())
        assert set(env.rewards.values()) == set(env._cumulative_rewards.values()) == {0}
        play(env, 40)
        env.reset()


def test_the_state_tells_every_position_apart_and_has_one_space_for_all_games() -> None:
    space = ludo_v0.raw_env().state_space
    for num_players in PLAYERS:
        env = begun(ludo_v0.env, num_players=num_players)
        positions: dict[bytes, str] = {}
        for _ in turns(env):
            state = env.state()
            assert space.contains(state)
            position = str(env.unwrapped.game.position)
            assert positions.setdefault(state.tobytes(), position) == position
        assert len(set(positions.values())) == len(positions)


def test_the_state_shows_player_0s_view_with_the_die_and_then_who_decides() -> None:
    env = begun(num_players=3)
    for number in range(3):
        env.reset(options={"position": f"20.0.0.0/20.0.0.0/20.0.0.0 {number} 4"})
        view, decider = np.split(env.state(), [-4])
        assert decider.tolist() == [int(i == number) for i in range(4)]
        env.reset(options={"position": "20.0.0.0/20.0.0.0/20.0.0.0 0 4"})
        assert np.array_equal(view, env.observe("player_0")["observation"])


# ---------------------------------------------------------------- turns


@pytest.mark.parametrize("num_players", PLAYERS)
def test_an_agent_acts_again_after_a_6_it_played_and_then_the_next_one_does(
    num_players: int,
) -> None:
    env = ludo_v0.env(num_players=num_players)
    env.reset(seed=0, options={"dice": [6, 6, 3, 6]})
    for die in (6, 6, 3):
        assert env.agent_selection == "player_0"
        assert env.unwrapped.game.die == die
        env.step(choice(env.last()[0]["action_mask"], random.Random(0)))
    assert env.agent_selection == "player_1"
    assert not env.observe("player_0")["action_mask"].any()
    assert not env.infos["player_0"]["action_mask"].any()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_game_of_a_run_is_the_seeds_next_one(num_players: int) -> None:
    env = begun(ludo_v0.env, seed=4, num_players=num_players, num_pawns=3)
    batch = GameBatch(1, env.unwrapped.rules, seed=4)
    for _ in range(3):
        while not batch.finished[0]:
            assert env.unwrapped.game.position == batch.position(0)
            assert env.agent_selection == f"player_{batch.players[0]}"
            action = int(np.argmax(env.last()[0]["action_mask"]))
            env.step(action)
            batch.step([action])
        assert env.unwrapped.game.winner == batch.winners[0]
        play(env)
        assert env.agents == []
        env.reset()
        batch.step([0])  # an ended game is followed by the next


@variants
def test_at_the_end_every_agent_steps_out_exactly_once(kwargs: dict[str, Any]) -> None:
    env = begun(ludo_v0.env, **kwargs)
    for _ in range(2):
        dead: list[str] = []
        for agent, (_, _, terminated, truncated, _) in turns(env):
            if terminated or truncated:
                dead.append(agent)
            else:
                assert not dead  # nobody lives on after the first end
        assert sorted(dead) == env.possible_agents
        assert env.agents == []
        env.reset()


@variants
def test_what_last_tells_an_agent_sums_to_what_the_steps_paid_it(kwargs: dict[str, Any]) -> None:
    env = begun(ludo_v0.env, **kwargs)
    draw = random.Random(2)
    told: dict[str, float] = defaultdict(float)
    paid: dict[str, float] = defaultdict(float)
    for agent in env.agent_iter():
        view, reward, terminated, truncated, _ = env.last()
        told[agent] += reward
        env.step(None if terminated or truncated else choice(view["action_mask"], draw))
        for other, payment in env.rewards.items():
            paid[other] += payment
    assert told == pytest.approx(paid)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_winner_and_losers_each_see_their_terminal_reward_once(num_players: int) -> None:
    env = begun(ludo_v0.env, num_players=num_players)
    for seed in range(3):
        told: dict[str, list[float]] = defaultdict(list)
        for agent, (_, reward, *_) in turns(env, seed):
            told[agent].append(reward)
        winner = f"player_{env.unwrapped.game.winner}"
        for agent in env.possible_agents:
            *before, last = told[agent]
            assert set(before) <= {0}
            assert last == (1 if agent == winner else -1 / (num_players - 1))
        env.reset()


def test_the_terminal_reward_of_place_follows_the_places() -> None:
    env = ludo_v0.env(num_players=4, reward="place")
    position = "44.43.42.40/7.3.0.0/0.0.0.0/7.3.0.0 0 1"
    env.reset(options={"position": position})
    env.step(3)
    told = {agent: last[1] for agent, last in turns(env)}
    assert told == pytest.approx({"player_0": 1, "player_1": 0, "player_2": -1, "player_3": 0})


@pytest.mark.parametrize("num_players", PLAYERS)
def test_at_the_end_and_only_then_infos_tell_places_and_winner(num_players: int) -> None:
    env = begun(ludo_v0.env, num_players=num_players)
    for agent, (_, _, terminated, _, info) in turns(env):
        game = env.unwrapped.game
        if terminated:
            assert info["place"] == game.places()[int(agent[-1])]
            assert info["winner"] == game.winner
            assert type(info["place"]) is type(info["winner"]) is int
        else:
            assert set(info) == {"action_mask"}


@pytest.mark.parametrize("reward", ["win", "place"])
@pytest.mark.parametrize("max_rolls", [1, *range(50, 58)])
def test_max_rolls_truncates_all_before_the_next_decision_and_pays_nothing(
    reward: str, max_rolls: int
) -> None:
    env = begun(ludo_v0.env, num_players=2, reward=reward, max_rolls=max_rolls)
    game = env.unwrapped.game
    dead = []
    for number, (agent, (_, payment, terminated, truncated, info)) in enumerate(turns(env)):
        assert not terminated
        assert payment == 0
        assert set(info) == {"action_mask"}
        assert truncated == (number > 0 and game.rolls >= max_rolls)
        if truncated:
            dead.append(agent)
            assert not info["action_mask"].any()
    assert sorted(dead) == env.possible_agents


def test_a_game_won_by_its_last_roll_is_terminated_not_truncated() -> None:
    env = ludo_v0.env(num_players=2, max_rolls=1)
    env.reset(options={"position": "44.43.42.40/7.3.0.0 0 -", "dice": [1]})
    env.step(3)
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert env._cumulative_rewards == {"player_0": 1, "player_1": -1}


def test_a_game_without_max_rolls_is_never_truncated() -> None:
    env = begun(num_players=4)
    for _, (_, _, _, truncated, _) in turns(env):
        assert not truncated
    assert env.game.rolls > 400


def test_the_count_of_rolls_starts_anew_with_each_game() -> None:
    env = begun(ludo_v0.env, max_rolls=80)
    for _ in range(3):
        decisions = sum(not last[3] for _, last in turns(env))
        assert decisions > 10
        env.reset()


# ---------------------------------------------------------------- forced moves


@pytest.mark.parametrize("num_players", PLAYERS)
def test_auto_forced_never_shows_a_decision_with_one_legal_move(num_players: int) -> None:
    env = begun(ludo_v0.env, num_players=num_players, auto_forced=True)
    for _ in range(3):
        for _, (view, _, terminated, *_) in turns(env):
            assert view["action_mask"].sum() >= 2 or terminated
        env.reset()


def test_without_auto_forced_such_decisions_are_shown() -> None:
    env = begun(ludo_v0.env, num_players=2)
    assert any(last[0]["action_mask"].sum() == 1 for _, last in turns(env))


@pytest.mark.parametrize("limits", [{}, {"max_rolls": 90}], ids=["unlimited", "limited"])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_game_with_auto_forced_is_the_plain_game_with_its_forced_moves_played(
    num_players: int, limits: dict[str, Any]
) -> None:
    plain = begun(seed=9, num_players=num_players, **limits)
    short = begun(seed=9, num_players=num_players, auto_forced=True, **limits)
    draw = random.Random(0)
    while not any([*short.terminations.values(), *short.truncations.values()]):
        while plain.last()[0]["action_mask"].sum() == 1:
            plain.step(int(np.argmax(plain.last()[0]["action_mask"])))
        assert plain.game.position == short.game.position
        assert plain.agent_selection == short.agent_selection
        action = choice(short.last()[0]["action_mask"], draw)
        plain.step(action)
        short.step(action)
    while plain.agents and plain.last()[0]["action_mask"].sum() == 1:
        plain.step(int(np.argmax(plain.last()[0]["action_mask"])))
    assert plain.game.position == short.game.position
    assert plain.terminations == short.terminations
    assert plain.truncations == short.truncations
    assert plain._cumulative_rewards == short._cumulative_rewards


def test_games_that_leave_nobody_a_choice_cannot_skip_forced_moves() -> None:
    with pytest.raises(ValueError, match="auto_forced"):
        ludo_v0.env(num_players=2, num_pawns=1, auto_forced=True)


# ---------------------------------------------------------------- refused actions

BAD_NUMBERS = [-1, 4, 7, np.int64(-1), np.uint8(200), 2**70]
BAD_TYPES = [
    None,
    1.0,
    "0",
    True,
    [0],
    np.array([0, 1]),
    np.array([0.0]),
    np.array([], dtype=np.int64),
]


def before_an_illegal_action(make: Any, seed: int = 0, **kwargs: Any) -> tuple[Any, int]:
    """An environment in mid-game, and an action that its mask forbids."""
    env = begun(make, 25, seed, **kwargs)
    while env.last()[0]["action_mask"].all():
        play(env, 1)
    return env, int(np.argmin(env.last()[0]["action_mask"]))


@variants
def test_the_raw_environment_raises_at_an_illegal_move_and_goes_on_as_if_it_had_not_been(
    kwargs: dict[str, Any],
) -> None:
    env, illegal = before_an_illegal_action(ludo_v0.raw_env, **kwargs)
    untouched = copy.deepcopy(env)
    with pytest.raises(IllegalMoveError):
        env.step(illegal)
    assert_same_future(env, untouched)


def test_an_illegal_move_error_names_position_die_and_legal_moves() -> None:
    env = begun(num_players=2)
    env.reset(options={"position": TWO_CHOICES})
    with pytest.raises(IllegalMoveError, match=r"action 3 .* 3 .*20\.10\.0\.0/.*legal: 0, 1"):
        env.step(3)


@pytest.mark.parametrize("action", BAD_NUMBERS, ids=repr)
def test_a_number_that_is_no_action_is_an_illegal_move(action: Any) -> None:
    env = begun(steps=30, num_players=2)
    untouched = copy.deepcopy(env)
    with pytest.raises(IllegalMoveError, match="legal: "):
        env.step(action)
    assert_same_future(env, untouched)


@pytest.mark.parametrize("action", BAD_TYPES, ids=repr)
def test_anything_but_an_integer_is_refused_and_nothing_changes(action: Any) -> None:
    env = begun(steps=30, num_players=2)
    untouched = copy.deepcopy(env)
    with pytest.raises(ValueError, match="action must be an integer 0 to 3, got "):
        env.step(action)
    assert_same_future(env, untouched)


@pytest.mark.parametrize(
    "as_given", [np.int64, np.int8, np.uint32, np.array, lambda a: np.array([a])]
)
def test_actions_may_be_numpys_integers_and_arrays_of_one(as_given: Any) -> None:
    env, plain = begun(num_players=2), begun(num_players=2)
    for _ in range(50):
        action = choice(env.last()[0]["action_mask"], random.Random(0))
        env.step(as_given(action))
        plain.step(action)
        assert_same(env, plain)


def test_a_dead_agent_takes_no_action_but_none() -> None:
    env = begun(num_players=2)
    env.reset(options={"position": WINS_WITH_A_1})
    env.step(3)
    untouched = copy.deepcopy(env)
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    assert_same(env, untouched)


def test_before_a_reset_and_after_the_last_agent_the_raw_environment_says_to_reset() -> None:
    env = ludo_v0.raw_env(num_players=2, render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render):
        with pytest.raises(ValueError, match=r"reset\(\)"):
            call()
    env.reset()
    play(env)
    with pytest.raises(ValueError, match=r"reset\(\)"):
        env.step(None)


# ---------------------------------------------------------------- PettingZoo's wrappers


@pytest.mark.parametrize("num_players", PLAYERS)
def test_wrapped_an_illegal_move_ends_the_game_with_minus_one_for_who_made_it(
    num_players: int,
) -> None:
    env, illegal = before_an_illegal_action(ludo_v0.env, num_players=num_players)
    mover = env.agent_selection
    env.step(illegal)
    assert set(env.terminations.values()) == {True}
    told = dict(turns(env))
    assert sorted(told) == env.possible_agents
    for agent, (_, reward, terminated, _, info) in told.items():
        assert terminated
        assert reward == (-1 if agent == mover else 0)
        assert "place" not in info


@variants
def test_wrapped_the_game_after_an_illegal_move_is_right_again(kwargs: dict[str, Any]) -> None:
    env, illegal = before_an_illegal_action(ludo_v0.env, seed=3, **kwargs)
    env.step(illegal)
    play(env)
    env.reset()
    fresh = begun(ludo_v0.env, seed=3, **kwargs)
    fresh.reset()
    assert_same_future(env, fresh)


@pytest.mark.parametrize("action", [4, -1, None, 1.5, "0"], ids=repr)
def test_wrapped_an_action_out_of_bounds_fails_an_assertion_and_changes_nothing(
    action: Any,
) -> None:
    env = begun(ludo_v0.env, steps=30, num_players=2)
    untouched = copy.deepcopy(env)
    with pytest.raises(AssertionError):
        env.step(action)
    assert_same_future(env, untouched)


def test_wrapped_the_order_of_calls_is_enforced() -> None:
    env = ludo_v0.env(render_mode="ansi")
    for call in (
        lambda: env.step(0),
        lambda: env.observe("player_0"),
        env.state,
        env.render,
        env.agent_iter,
    ):
        with pytest.raises(AssertionError, match="reset"):
            call()
    for name in ("rewards", "terminations", "truncations", "infos", "agents", "agent_selection"):
        with pytest.raises(AttributeError, match="before reset"):
            getattr(env, name)


def test_the_wrappers_are_those_of_pettingzoos_classic_games() -> None:
    layers = []
    env = ludo_v0.env()
    while env is not env.unwrapped:
        layers.append(type(env).__name__)
        env = env.env
    assert layers == [
        "OrderEnforcingWrapper",
        "AssertOutOfBoundsWrapper",
        "TerminateIllegalWrapper",
    ]


# ---------------------------------------------------------------- resets


@both_kinds
def test_a_seed_repeats_its_games_whatever_was_played_before(make: Any) -> None:
    fresh = make(num_players=3)
    used = begun(make, steps=70, seed=1, num_players=3)
    games = [trace(fresh, seed=8), trace(fresh), trace(fresh)]
    assert [trace(used, seed=8), trace(used), trace(used)] == games
    assert len({tuple(game) for game in games}) == 3


@pytest.mark.parametrize("seed", [0, 12345, 2**63 - 1])
def test_the_dice_are_those_of_a_game_so_seeded(seed: int) -> None:
    env, game = begun(seed=seed), Game(seed=seed)
    for _ in range(100):
        assert env.game.position == game.position
        action = choice(game.action_mask(), random.Random(0))
        env.step(action)
        game.play(action)


def test_unseeded_environments_differ() -> None:
    assert len({tuple(trace(ludo_v0.env(num_players=2))) for _ in range(8)}) == 8


@pytest.mark.parametrize("seed", [np.int64(7), np.uint8(7), np.int32(7), np.array(7)], ids=repr)
def test_seeds_may_be_numpys_integers(seed: Any) -> None:
    assert trace(ludo_v0.env(), seed=seed) == trace(ludo_v0.env(), seed=7)


@pytest.mark.parametrize("seed", [-1, np.int64(-3), 2**63, 1.5, "7", True, [7]], ids=repr)
def test_other_seeds_are_refused_and_the_present_game_goes_on(seed: Any) -> None:
    env = begun(steps=30, num_players=2)
    untouched = copy.deepcopy(env)
    with pytest.raises(ValueError, match="seed must be an integer from 0 to"):
        env.reset(seed=seed)
    assert_same_future(env, untouched)


def test_global_generators_are_neither_read_nor_written() -> None:
    games = []
    for global_seed in (1, 2):
        random.seed(global_seed)
        np.random.seed(global_seed)  # noqa: NPY002
        states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        env = ludo_v0.env(auto_forced=True)
        games.append(trace(env, seed=3))
        env.reset()
        env.unwrapped.observe("player_1")
        now = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        assert states == now
    assert games[0] == games[1]


@both_kinds
@pytest.mark.parametrize("as_text", [True, False], ids=["text", "Position"])
def test_a_game_begins_where_the_options_say(make: Any, as_text: bool) -> None:
    env = make(num_players=2)
    position = TWO_CHOICES if as_text else Position.parse(TWO_CHOICES, Rules(2))
    env.reset(seed=1, options={"position": position, "volume": 11})
    assert str(env.unwrapped.game.position) == TWO_CHOICES
    assert env.agent_selection == "player_0"
    assert env.last()[0]["action_mask"].tolist() == [1, 1, 0, 0]


def test_the_player_of_the_position_is_the_first_to_act() -> None:
    env = ludo_v0.env(num_players=3)
    env.reset(options={"position": "20.0.0.0/20.0.0.0/20.0.0.0 2 4"})
    assert env.agent_selection == "player_2"


def test_scripted_dice_come_first_and_the_seeds_own_follow() -> None:
    env, game = ludo_v0.raw_env(num_players=2), Game(Rules(2), seed=5, dice=[1, 1, 2, 5, 5, 6, 6])
    env.reset(seed=5, options={"dice": [1, 1, 2, 5, 5, 6, 6]})
    assert env.agent_selection == "player_1"
    for _ in range(40):
        assert env.game.position == game.position
        action = choice(game.action_mask(), random.Random(0))
        env.step(action)
        game.play(action)


def test_options_hold_for_one_game_only() -> None:
    env = ludo_v0.raw_env(num_players=2)
    env.reset(seed=5, options={"position": TWO_CHOICES, "dice": [6, 6, 6]})
    second = trace(env)
    plain = begun(seed=5, num_players=2)
    assert second == trace(plain)


BAD_OPTIONS = {
    "finished": {"position": "44.43.42.41/7.0.0.0 0 -"},
    "two pawns on a square": {"position": "7.7.0.0/0.0.0.0 0 3"},
    "two players on a square": {"position": "21.0.0.0/1.0.0.0 0 3"},
    "progress out of range": {"position": "45.0.0.0/0.0.0.0 0 3"},
    "another number of players": {"position": "7.0.0.0/0.0.0.0/0.0.0.0 0 3"},
    "another number of pawns": {"position": "7.0.0/0.0.0 0 3"},
    "no such player": {"position": "7.0.0.0/0.0.0.0 2 3"},
    "no such die": {"position": "7.0.0.0/0.0.0.0 0 7"},
    "not of the form": {"position": "somewhere"},
    "no position": {"position": 12},
    "a die of seven": {"dice": [6, 7]},
    "a die of zero": {"dice": [0]},
    "half a die": {"dice": [1.5]},
    "dice as text": {"dice": "66"},
    "a good position with bad dice": {"position": TWO_CHOICES, "dice": [True]},
    "a list": [("position", TWO_CHOICES)],
}


@both_kinds
@pytest.mark.parametrize("options", BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_refused_by_name_and_the_present_game_goes_on(
    make: Any, options: Any
) -> None:
    env = begun(make, steps=30, num_players=2)
    untouched = copy.deepcopy(env)
    name = "options" if isinstance(options, list) else list(options)[-1]
    with pytest.raises(ValueError, match=name):
        env.reset(seed=99, options=options)
    assert_same_future(env, untouched)


def test_with_auto_forced_a_position_that_forces_its_own_end_is_refused() -> None:
    env = begun(steps=30, num_players=2, auto_forced=True)
    untouched = copy.deepcopy(env)
    with pytest.raises(ValueError, match="position must leave a decision"):
        env.reset(options={"position": WINS_WITH_A_1})
    assert_same_future(env, untouched)


# ---------------------------------------------------------------- copies


@both_kinds
@variants
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_made_in_mid_game_keeps_position_rewards_and_coming_dice(
    copied: Any, kwargs: dict[str, Any], make: Any
) -> None:
    env = begun(make, steps=33, seed=6, **kwargs)
    other = copied(env)
    before = copy.deepcopy(shown(env))
    assert_same_future(other, begun(make, steps=33, seed=6, **kwargs))
    assert data_equivalence(shown(env), before, exact=True)  # playing the copy changed nothing


def test_a_copy_made_while_agents_step_out_keeps_who_is_left() -> None:
    env = ludo_v0.env(num_players=4)
    env.reset(options={"position": "44.43.42.40/7.3.0.0/0.0.0.0/0.0.0.0 0 1"})
    env.step(3)
    env.step(None)
    other = pickle.loads(pickle.dumps(env))
    assert len(other.agents) == 3
    assert_same(env, other)
    assert sorted(agent for agent, _ in turns(other)) == sorted(env.agents)


def test_scripted_dice_survive_a_copy() -> None:
    env = ludo_v0.raw_env(num_players=2)
    env.reset(seed=5, options={"dice": [6, 6, 6, 6, 2, 6]})
    other = pickle.loads(pickle.dumps(env))
    for _ in range(4):
        other.step(int(np.argmax(other.last()[0]["action_mask"])))
    assert other.game.die == 2


# ---------------------------------------------------------------- rendering, arguments, game


@both_kinds
def test_ansi_renders_the_board_as_text_that_follows_the_game(make: Any) -> None:
    env = begun(make, num_players=2, render_mode="ansi")
    pictures = set()
    for _ in turns(env, limit=20):
        picture = env.render()
        assert isinstance(picture, str)
        assert picture == env.render()
        pictures.add(picture)
    assert len(pictures) > 5
    env.close()
    env.close()


def test_without_a_render_mode_render_warns_and_gives_nothing() -> None:
    env = begun(num_players=2)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"players": 3}, "'players'.*num_players, num_pawns"),
        ({"num_players": 5}, "num_players must be .* got 5"),
        ({"num_pawns": 0}, "num_pawns must be .* got 0"),
        ({"home_jumps": "no"}, "home_jumps must be True or False, got 'no'"),
        ({"rules": 4}, "rules must be .* got 4"),
        ({"rules": Rules(2), "num_pawns": 3}, "either rules or the fields.*num_pawns"),
        ({"reward": "money"}, "reward must be one of 'win', 'place', 'shaped'.*got 'money'"),
        ({"auto_forced": 1}, "auto_forced must be True or False, got 1"),
        ({"max_rolls": 0}, "max_rolls must be .* got 0"),
        ({"max_rolls": 10.0}, "max_rolls must be .* got 10.0"),
        ({"max_rolls": True}, "max_rolls must be .* got True"),
        ({"render_mode": "smoke"}, "render_mode must be .*'ansi'.* got 'smoke'"),
    ],
    ids=str,
)
@both_kinds
def test_wrong_arguments_are_refused_by_name(
    make: Any, kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make(**kwargs)


def test_rules_may_be_given_as_an_object_or_by_their_fields() -> None:
    rules = Rules(3, 2, mandatory_capture=False, home_jumps=True, pawn_on_start=True)
    whole = ludo_v0.env(rules=rules)
    fields = ludo_v0.env(
        num_players=3, num_pawns=2, mandatory_capture=False, home_jumps=True, pawn_on_start=True
    )
    assert whole.unwrapped.rules == fields.unwrapped.rules == rules
    assert trace(whole, seed=1) == trace(fields, seed=1)


def test_the_game_behind_the_environment_can_be_looked_at() -> None:
    env = begun(ludo_v0.env, steps=20, num_players=2)
    game = env.unwrapped.game
    assert isinstance(game, Game)
    assert env.agent_selection == f"player_{game.player}"
    legal = np.flatnonzero(env.last()[0]["action_mask"]).tolist()
    assert [move.action for move in game.legal_moves()] == legal
    assert game.copy().position == game.position


def test_metadata_names_the_environment_and_its_render_modes() -> None:
    env = ludo_v0.env()
    assert env.metadata["name"] == "ludo_v0"
    assert "ansi" in env.metadata["render_modes"]
    assert env.metadata["is_parallelizable"] is False
    assert str(env) == "ludo_v0"


def test_a_game_that_forced_moves_end_is_dealt_again() -> None:
    env = ludo_v0.env(num_players=2, num_pawns=2, auto_forced=True)
    env.reset(seed=19512)
    assert env.unwrapped.game.episode > 0
    assert env.observe(env.agent_selection)["action_mask"].sum() > 1
