"""Many learners' games at once: for Gymnasium, and for Stable-Baselines3."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import pickle
import random
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ludo_env import GameBatch, IllegalMoveError, Rules
from ludo_env.agents.scripted import Scripted
from ludo_env.rewards import Shaped, Win

ENV_ID = "ludo_env/Ludo-v0"
needs_sb3 = pytest.mark.skipif(
    importlib.util.find_spec("sb3_contrib") is None, reason="sb3-contrib is not installed"
)


class FirstAgent:
    """Plays the first legal action, and keeps for which rows it was asked, call by call."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
        self.calls.append(rows.tolist())
        return batch.masks(rows).argmax(axis=1)


class LastAgent(FirstAgent):
    """Plays the last legal action."""

    def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
        self.calls.append(rows.tolist())
        return 3 - batch.masks(rows)[:, ::-1].argmax(axis=1)


class Opaque:
    """Another agent, whose nature an environment cannot see."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
        return self.agent.act(batch, rows)


VARIANTS = {
    "default": {},
    "two players, any seat": {"num_players": 2, "seat": "random"},
    "several opponents": {"seat": "random", "opponents": ["first", "advance", "random"]},
    "shaped": {"num_players": 3, "reward": Shaped(0.97), "seat": 2},
    "forced moves skipped": {"num_players": 2, "auto_forced": True, "reward": "shaped"},
    "truncated": {"max_rolls": 70, "reward": "place", "seat": "random"},
    "agents": {
        "num_players": 3,
        "opponents": [FirstAgent(), Opaque(Scripted("random", 3))],
        "seat": "random",
    },
    "everything": {
        "opponents": [LastAgent(), "random", FirstAgent()],
        "auto_forced": True,
        "max_rolls": 200,
        "reward": Shaped(0.9),
        "seat": "random",
    },
    "games over before they begin": {"num_pawns": 1, "seat": 3},
    "other rules": {
        "rules": Rules(2, 2, mandatory_capture=False, home_jumps=True, pawn_on_start=True)
    },
}
variants = pytest.mark.parametrize("kwargs", VARIANTS.values(), ids=VARIANTS)


def native(num_envs: int = 6, **kwargs: Any) -> Any:
    return gymnasium.make_vec(
        ENV_ID, num_envs=num_envs, vectorization_mode="vector_entry_point", **kwargs
    )


def single(**kwargs: Any) -> gymnasium.Env:
    return gymnasium.make(ENV_ID, disable_env_checker=True, **kwargs)


def singles(num_envs: int = 6, **kwargs: Any) -> SyncVectorEnv:
    return SyncVectorEnv(
        [lambda: single(**kwargs)] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP
    )


def legal_actions(masks: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """One of the legal actions of each game."""
    return (masks * draw.random(masks.shape)).argmax(axis=1)


def assert_same_games(
    env: Any, other: Any, steps: int, *, masks: np.ndarray, illegal: float = 0.0
) -> Counter[str]:
    """Two environments in mid-game go on alike under the same actions; counts what happened."""
    draw = np.random.default_rng(len(masks))
    seen: Counter[str] = Counter()
    for _ in range(steps):
        actions = legal_actions(masks, draw)
        if illegal:
            wild = draw.random(len(masks)) < illegal
            actions = np.where(wild, draw.integers(-1, 6, len(masks)), actions)
        one, two = env.step(actions), other.step(actions)
        assert data_equivalence(one, two, exact=True)
        masks = one[4]["action_mask"]
        seen["terminated"] += int(one[2].sum())
        seen["truncated"] += int(one[3].sum())
        seen["skipped"] += int(one[4].get("skipped_games", np.zeros(1)).sum())
        final = one[4].get("final_info", {})
        seen["illegal"] += int(np.sum(final.get("_illegal_action", 0)))
    return seen


def begun(steps: int = 0, seed: int = 0, **kwargs: Any) -> tuple[Any, np.ndarray]:
    """A native environment some steps into its games, and the masks there."""
    env = native(**kwargs)
    _, infos = env.reset(seed=seed)
    draw = np.random.default_rng(seed)
    for _ in range(steps):
        *_, infos = env.step(legal_actions(infos["action_mask"], draw))
    return env, infos["action_mask"]


# ---------------------------------------------------------------- equal to single environments


@variants
def test_games_equal_those_of_single_environments_so_seeded_step_by_step(
    kwargs: dict[str, Any],
) -> None:
    env, other = native(**kwargs), singles(**kwargs)
    one, two = env.reset(seed=40), other.reset(seed=40)
    assert data_equivalence(one, two, exact=True)
    seen = assert_same_games(env, other, 500, masks=one[1]["action_mask"])
    assert seen["truncated" if "max_rolls" in kwargs else "terminated"] > 5
    one, two = env.reset(), other.reset()
    assert data_equivalence(one, two, exact=True)
    assert_same_games(env, other, 20, masks=one[1]["action_mask"])


@variants
def test_games_equal_those_of_single_environments_with_illegal_actions_in_between(
    kwargs: dict[str, Any],
) -> None:
    env, other = native(**kwargs), singles(**kwargs)
    one, two = env.reset(seed=80), other.reset(seed=80)
    assert data_equivalence(one, two, exact=True)
    seen = assert_same_games(env, other, 150, masks=one[1]["action_mask"], illegal=0.1)
    assert seen["illegal"] > 10


def test_games_over_before_they_begin_are_skipped_and_counted() -> None:
    env, other = native(40, num_pawns=1, seat=3), singles(40, num_pawns=1, seat=3)
    one, two = env.reset(seed=0), other.reset(seed=0)
    assert data_equivalence(one, two, exact=True)
    seen = assert_same_games(env, other, 200, masks=one[1]["action_mask"])
    assert one[1]["skipped_games"].sum() + seen["skipped"] > 0


@pytest.mark.parametrize("policy", ["first", "advance", "careful"])
def test_a_scripted_opponent_plays_the_same_compiled_as_asked(policy: str) -> None:
    for kwargs in ({}, {"seat": "random", "auto_forced": True, "max_rolls": 150}):
        env = native(opponents=policy, **kwargs)
        other = native(opponents=Opaque(Scripted(policy)), **kwargs)
        one, two = env.reset(seed=3), other.reset(seed=3)
        assert data_equivalence(one, two, exact=True)
        assert_same_games(env, other, 200, masks=one[1]["action_mask"])


def test_the_number_of_games_does_not_change_them() -> None:
    many, few = native(9, seat="random"), native(3, seat="random")
    views, infos = many.reset(seed=5)
    few_views, few_infos = few.reset(seed=5)
    draw = np.random.default_rng(0)
    for _ in range(150):
        assert np.array_equal(views[:3], few_views)
        actions = legal_actions(infos["action_mask"], draw)
        views, rewards, *_, infos = many.step(actions)
        few_views, few_rewards, *_, few_infos = few.step(actions[:3])
        assert np.array_equal(rewards[:3], few_rewards)
        assert np.array_equal(infos["action_mask"][:3], few_infos["action_mask"])


# ---------------------------------------------------------------- making and spaces


def test_gymnasium_makes_the_native_environment_and_passes_keywords_on() -> None:
    for mode in ({}, {"vectorization_mode": "vector_entry_point"}):
        env = gymnasium.make_vec(
            ENV_ID, num_envs=5, num_players=3, num_pawns=2, seat=1, max_rolls=90, **mode
        )
        assert type(env.unwrapped).__name__ == "LudoVectorEnv"
        assert env.num_envs == 5
        views, infos = env.reset(seed=2)
        own = single(num_players=3, num_pawns=2, seat=1, max_rolls=90)
        view, info = own.reset(seed=2)
        assert np.array_equal(views[0], view)
        assert np.array_equal(infos["action_mask"][0], info["action_mask"])


def test_gymnasium_makes_synchronous_single_environments_too() -> None:
    env = gymnasium.make_vec(
        ENV_ID,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        num_players=2,
        seat="random",
    )
    other = native(3, num_players=2, seat="random")
    one, two = env.reset(seed=9), other.reset(seed=9)
    assert data_equivalence(one, two, exact=True)
    seen = assert_same_games(env, other, 150, masks=one[1]["action_mask"])
    assert seen["terminated"] > 0


def test_the_metadata_state_the_autoreset_mode_and_render_modes() -> None:
    for env in (native(), native().unwrapped):
        assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
        assert "ansi" in env.metadata["render_modes"]


def test_the_single_spaces_are_those_of_the_single_environment() -> None:
    env = native(5)
    assert env.single_observation_space == single().observation_space
    assert env.single_action_space == gymnasium.spaces.Discrete(4)
    assert env.observation_space == singles(5).observation_space
    assert env.action_space == singles(5).action_space
    views, _ = env.reset(seed=0)
    assert env.observation_space.contains(views)


def test_gymnasiums_vector_wrappers_apply() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(native(4, num_players=2, max_rolls=60))
    _, infos = env.reset(seed=0)
    lengths = np.zeros(4, dtype=int)
    ends = 0
    for _ in range(60):
        _, _, terminated, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
        lengths += 1
        for row in np.flatnonzero(terminated | truncated):
            assert infos["episode"]["l"][row] == lengths[row]
            lengths[row] = 0
            ends += 1
    assert ends > 4


# ---------------------------------------------------------------- what a step returns


def test_an_ended_games_last_view_and_info_are_marked_and_all_others_empty() -> None:
    env, masks = begun(num_envs=8, num_players=2, seat="random")
    draw = np.random.default_rng(0)
    ends = 0
    for _ in range(400):
        views, rewards, terminated, truncated, infos = env.step(legal_actions(masks, draw))
        masks = infos["action_mask"]
        assert masks.any(axis=1).all()  # of the games that follow
        assert infos["_action_mask"].all()
        assert not truncated.any()
        if not terminated.any():
            assert set(infos) == {"action_mask", "_action_mask"}
            assert not rewards.any()
            continue
        ends += 1
        final = infos["final_info"]
        for marks in (
            infos["_final_obs"],
            infos["_final_info"],
            infos["_skipped_games"],
            *(final[f"_{key}"] for key in ("action_mask", "place", "winner")),
        ):
            assert np.array_equal(marks, terminated)
        assert "illegal_action" not in final
        for row, ended in enumerate(terminated):
            if ended:
                assert env.single_observation_space.contains(infos["final_obs"][row])
                assert not np.array_equal(infos["final_obs"][row], views[row])
                assert rewards[row] == (1 if final["place"][row] == 1 else -1)
            else:
                assert infos["final_obs"][row] is None
                assert rewards[row] == 0
        assert not final["action_mask"].any()
    assert ends > 5


def test_an_illegal_action_ends_its_own_game_only() -> None:
    env, masks = begun(num_envs=5, num_players=2, reward="place")
    actions = masks.argmax(axis=1)
    actions[[1, 4]] = 9
    _, rewards, terminated, truncated, infos = env.step(actions)
    expected = np.array([False, True, False, False, True])
    assert np.array_equal(terminated, expected)
    assert not truncated.any()
    assert rewards.tolist() == [0, -1, 0, 0, -1]
    final = infos["final_info"]
    assert np.array_equal(final["illegal_action"], expected)
    assert np.array_equal(final["_illegal_action"], expected)
    assert "place" not in final


def test_returned_arrays_never_change_afterwards() -> None:
    env, masks = begun(num_envs=4, num_players=2, max_rolls=40, reward="shaped")
    kept = []
    draw = np.random.default_rng(1)
    for _ in range(120):
        returned = env.step(legal_actions(masks, draw))
        masks = returned[4]["action_mask"]
        kept.append((returned, copy.deepcopy(returned)))
    returned = env.reset()
    kept.append((returned, copy.deepcopy(returned)))
    env.step(returned[1]["action_mask"].argmax(axis=1))
    env.reset()
    for now, then in kept:
        assert data_equivalence(now, then, exact=True)


def test_writing_on_returned_arrays_does_not_touch_the_games() -> None:
    (env, masks), (other, _) = begun(20), begun(20)
    draw = np.random.default_rng(1)
    for _ in range(100):
        actions = legal_actions(masks, draw)
        expected = other.step(actions)
        masks = expected[4]["action_mask"]
        returned = env.step(actions)
        assert data_equivalence(returned, expected, exact=True)
        env.unwrapped.action_masks()[:] = False
        for array in (*returned[:4], returned[4]["action_mask"], returned[4]["_action_mask"]):
            array[:] = 1


def arrays_in(returned: Any) -> list[np.ndarray]:
    if isinstance(returned, np.ndarray):
        return arrays_in(list(returned)) if returned.dtype == object else [returned]
    parts = returned.values() if isinstance(returned, dict) else returned
    return [array for part in parts if part is not None for array in arrays_in(part)]


def test_no_two_returned_arrays_share_their_memory() -> None:
    env, masks = begun(num_envs=4, num_players=2)
    terminated = np.zeros(4, dtype=bool)
    while not terminated.any():
        returned = env.step(masks.argmax(axis=1))
        _, _, terminated, _, infos = returned
        masks = infos["action_mask"].copy()
    arrays = arrays_in(returned)
    assert len(arrays) > 12
    for one, two in itertools.combinations(arrays, 2):
        assert not np.shares_memory(one, two)


def test_action_masks_are_those_of_the_infos_as_fresh_booleans() -> None:
    env, masks = begun(30, num_envs=7)
    found = env.unwrapped.action_masks()
    assert found.shape == (7, 4)
    assert found.dtype == np.bool_
    assert np.array_equal(found, masks)
    assert found is not env.unwrapped.action_masks()


# ---------------------------------------------------------------- seeds and options


def test_an_int_seed_gives_game_i_the_seed_plus_i_and_a_list_one_each() -> None:
    env = native(4, seat="random")
    for given, seeds in (
        (7, [7, 8, 9, 10]),
        (np.int64(7), [7, 8, 9, 10]),
        ([3, 100, 3, 2**63 - 1], [3, 100, 3, 2**63 - 1]),
        (np.array([1, 2, 3, 4]), [1, 2, 3, 4]),
    ):
        views, _ = env.reset(seed=given)
        views, *_ = env.step(env.unwrapped.action_masks().argmax(axis=1))
        for view, seed in zip(views, seeds, strict=True):
            own = single(seat="random")
            _, info = own.reset(seed=seed)
            assert np.array_equal(own.step(int(info["action_mask"].argmax()))[0], view)


def test_a_seed_repeats_its_games_whatever_was_played_before() -> None:
    used, _ = begun(40, seed=1, seat="random")
    fresh = native(seat="random")
    one, two = used.reset(seed=6), fresh.reset(seed=6)
    assert data_equivalence(one, two, exact=True)
    assert_same_games(used, fresh, 50, masks=one[1]["action_mask"])
    one, two = used.reset(), fresh.reset()
    assert data_equivalence(one, two, exact=True)


def test_unseeded_environments_and_their_games_differ() -> None:
    played = set()
    for _ in range(3):
        env = native(5, num_players=2)
        _, infos = env.reset()
        rows: list[list[bytes]] = [[] for _ in range(5)]
        for _ in range(20):
            views, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
            for row, view in zip(rows, views, strict=True):
                row.append(view.tobytes())
        played |= {b"".join(row) for row in rows}
    assert len(played) == 15


@pytest.mark.parametrize(
    "seed",
    [-1, 2**63, 2**63 - 3, 1.5, "7", True, [1, 2], [1, 2, 3, 4, 5, -6], [None] * 6],
    ids=repr,
)
def test_other_seeds_are_refused_and_the_present_games_go_on(seed: Any) -> None:
    env, masks = begun(20)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    assert_same_games(env, begun(20)[0], 100, masks=masks)


def test_all_games_begin_where_the_options_say() -> None:
    env, other = native(3, num_players=2), singles(3, num_players=2)
    options = {"position": "20.10.0.0/12.0.0.0 0 3", "dice": [6, 1, 5, 5], "volume": 11}
    one, two = env.reset(seed=1, options=options), other.reset(seed=1, options=options)
    assert data_equivalence(one, two, exact=True)
    assert one[1]["action_mask"].tolist() == [[1, 1, 0, 0]] * 3
    assert_same_games(env, other, 200, masks=one[1]["action_mask"])
    assert data_equivalence(env.reset(), other.reset(), exact=True)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("position", {"position": "44.43.42.41/7.0.0.0/0.0.0.0/0.0.0.0 0 -"}),
        ("position", {"position": "7.7.0.0/0.0.0.0/0.0.0.0/0.0.0.0 0 3"}),
        ("dice", {"dice": [6, 7]}),
        ("options", ["position"]),
    ],
    ids=["finished", "impossible", "bad dice", "a list"],
)
def test_bad_options_are_refused_by_name_and_the_present_games_go_on(
    name: str, options: Any
) -> None:
    env, masks = begun(20, reward="shaped")
    with pytest.raises(ValueError, match=name):
        env.reset(seed=99, options=options)
    assert_same_games(env, begun(20, reward="shaped")[0], 100, masks=masks)


def test_a_position_that_ends_before_the_decision_is_refused_and_the_present_games_go_on() -> None:
    env, masks = begun(20, num_players=2)
    with pytest.raises(ValueError, match="ends before the learner's first decision"):
        env.reset(seed=0, options={"position": "7.0.0.0/44.43.42.40 1 1"})
    assert_same_games(env, begun(20, num_players=2)[0], 50, masks=masks)


# ---------------------------------------------------------------- actions


@pytest.mark.parametrize(
    "actions",
    [
        None,
        0,
        [0] * 5,
        [[0]] * 6,
        [0.0] * 6,
        ["0"] * 6,
        [True] * 6,
        [0, 0, 0, 0, 0, None],
        np.zeros((6, 1), dtype=np.int64),
        np.zeros(7, dtype=np.int64),
    ],
    ids=[
        "none",
        "one",
        "too few",
        "lists",
        "floats",
        "text",
        "booleans",
        "a gap",
        "column",
        "many",
    ],
)
def test_anything_but_an_integer_for_each_game_is_refused_and_nothing_changes(
    actions: Any,
) -> None:
    env, masks = begun(20)
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(6,\), got"):
        env.step(actions)
    assert_same_games(env, begun(20)[0], 100, masks=masks)


@pytest.mark.parametrize("as_given", [list, tuple, np.int8, np.uint64])
def test_actions_may_be_any_integers(as_given: Any) -> None:
    (env, masks), (other, _) = begun(10), begun(10)
    for _ in range(20):
        actions = masks.argmax(axis=1)
        given = as_given(actions) if as_given in (list, tuple) else actions.astype(as_given)
        one, two = env.step(given), other.step(actions)
        assert data_equivalence(one, two, exact=True)
        masks = one[4]["action_mask"]


def test_one_illegal_action_raises_on_request_and_no_game_changes() -> None:
    env, masks = begun(20, illegal_action="raise", reward="shaped")
    for row in range(6):
        actions = masks.argmax(axis=1)
        actions[row] = 7
        with pytest.raises(IllegalMoveError, match=f"row {row}: action 7 .*legal: "):
            env.step(actions)
    untouched, _ = begun(20, illegal_action="raise", reward="shaped")
    assert_same_games(env, untouched, 100, masks=masks)


def test_stepping_before_the_first_reset_is_a_clear_error() -> None:
    with pytest.raises(ValueError, match=r"reset\(\)"):
        native(2).step([0, 0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"num_envs": 0}, "num_envs must be .* got 0"),
        ({"players": 3}, "'players'"),
        ({"seat": 4}, "seat must be .* got 4"),
        ({"reward": "money"}, "reward must be .* got 'money'"),
        ({"illegal_action": "ignore"}, "illegal_action must be .* got 'ignore'"),
        ({"max_rolls": -1}, "max_rolls must be .* got -1"),
        ({"opponents": "nobody"}, "'nobody'"),
        ({"opponents": ["first", "first"]}, "opponents must be one or a list of 3, got 2"),
        ({"opponents": [["first"]] * 5}, "opponents must be one list for each of 6 games, got 5"),
        ({"opponents": [["first"] * 2] * 6}, "opponents must be one or a list of 3, got 2"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_by_name(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        native(**{"num_envs": 6, **kwargs})


# ---------------------------------------------------------------- opponents


def test_opponents_may_be_one_list_for_each_game() -> None:
    lists = [
        ["first"],
        ["advance", "first", "random"],
        [LastAgent()] * 3,
        ["random", LastAgent(), "first"],
    ]
    env = native(4, opponents=lists, seat="random")
    other = SyncVectorEnv(
        [lambda own=own: single(opponents=own, seat="random") for own in lists],
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    one, two = env.reset(seed=12), other.reset(seed=12)
    assert data_equivalence(one, two, exact=True)
    assert_same_games(env, other, 250, masks=one[1]["action_mask"])


def test_an_agent_is_asked_once_a_round_for_all_games_that_wait_on_it() -> None:
    agent = FirstAgent()
    env = native(30, opponents=agent)
    _, infos = env.reset(seed=2)
    largest = 0
    for _ in range(40):
        agent.calls.clear()
        _, _, terminated, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        if terminated.any():  # the rounds of the games that follow are played too
            continue
        asked = Counter(row for call in agent.calls for row in call)
        assert all(len(set(call)) == len(call) for call in agent.calls)
        assert len(agent.calls) == max(asked.values(), default=0)  # the longest wait's need
        largest = max([largest, *map(len, agent.calls)])
    assert largest > 20


def test_two_agents_are_each_asked_for_their_own_games_only() -> None:
    one, two = FirstAgent(), LastAgent()
    env = native(6, num_players=2, opponents=[[one]] * 3 + [[two]] * 3)
    _, infos = env.reset(seed=2)
    for _ in range(50):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert {row for call in one.calls for row in call} == {0, 1, 2}
    assert {row for call in two.calls for row in call} == {3, 4, 5}


def test_scripted_opponents_are_not_asked_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(Scripted, "act", refuse)
    begun(50, opponents=["first", Scripted("advance"), "random"])


def test_set_opponents_takes_effect_in_each_game_at_its_own_next_one() -> None:
    before, after = FirstAgent(), LastAgent()
    env, masks = begun(5, num_envs=8, num_players=2, opponents=before, max_rolls=80)
    draw = np.random.default_rng(0)
    dealt = np.zeros(8, dtype=bool)
    env.unwrapped.set_opponents(after)
    partial = 0
    while not dealt.all():
        before.calls.clear()
        after.calls.clear()
        _, _, terminated, truncated, infos = env.step(legal_actions(masks, draw))
        masks = infos["action_mask"]
        new = {row for call in after.calls for row in call}
        old = {row for call in before.calls for row in call}
        assert not new & set(np.flatnonzero(~dealt & ~(terminated | truncated)))
        assert not old & set(np.flatnonzero(dealt))
        dealt |= terminated | truncated
        partial += bool(new and old)
    assert partial > 0


def test_changing_opponents_now_and_then_equals_single_environments() -> None:
    agents = [FirstAgent(), LastAgent(), Opaque(Scripted("random", 1)), "advance"]
    env, other = native(5, num_players=3), singles(5, num_players=3)
    one, two = env.reset(seed=21), other.reset(seed=21)
    masks = one[1]["action_mask"]
    draw = random.Random(0)
    for _ in range(12):
        chosen = [draw.choice(agents), draw.choice(agents)]
        env.unwrapped.set_opponents(chosen)
        other.call("set_opponents", chosen)
        actions = masks.argmax(axis=1)
        actions[draw.randrange(5)] = 9  # a new game for one of them
        one, two = env.step(actions), other.step(actions)
        assert data_equivalence(one, two, exact=True)
        assert_same_games(env, other, 15, masks=one[4]["action_mask"])
        masks = env.unwrapped.action_masks()


def test_bad_opponents_are_refused_and_the_chosen_ones_stay() -> None:
    env, masks = begun(20, opponents="advance")
    for bad in ("nobody", ["first"] * 2, [["first"]] * 5, [["first"]] * 5 + [["nobody"]]):
        with pytest.raises(ValueError, match=r"opponents|agent"):
            env.unwrapped.set_opponents(bad)
    assert_same_games(env, begun(20, opponents="advance")[0], 100, masks=masks)


# ---------------------------------------------------------------- copies and rendering


@variants
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_made_in_mid_run_keeps_the_games_and_what_is_to_come(
    copied: Any, kwargs: dict[str, Any]
) -> None:
    env, masks = begun(30, **kwargs)
    other = copied(env)
    assert_same_games(other, begun(30, **kwargs)[0], 40, masks=masks)
    assert_same_games(env, begun(30, **kwargs)[0], 40, masks=masks)


def test_ansi_renders_every_board() -> None:
    env = native(3, num_players=2, render_mode="ansi")
    env.reset(seed=1)
    pictures = env.render()
    assert len(pictures) == 3
    assert len(set(pictures)) > 1
    own = single(num_players=2, render_mode="ansi")
    own.reset(seed=1)
    assert pictures[0] == own.render()
    env.close()
    env.close()


# ---------------------------------------------------------------- Stable-Baselines3


def sb3_native(num_envs: int = 5, **kwargs: Any) -> Any:
    from ludo_env.sb3 import LudoVecEnv

    return LudoVecEnv(num_envs, **kwargs)


def sb3_singles(num_envs: int = 5, **kwargs: Any) -> Any:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([lambda: Monitor(single(**kwargs))] * num_envs)


def told(info: dict[str, Any]) -> dict[str, Any]:
    """What both kinds tell at the end of a game, without the clock."""
    episode = {key: info["episode"][key] for key in ("r", "l")} if "episode" in info else None
    keys = ("terminal_observation", "place", "winner", "illegal_action")
    truncated = info.get("TimeLimit.truncated", False)
    return {
        **{key: info[key] for key in keys if key in info},
        "episode": episode,
        "truncated": truncated,
    }


@needs_sb3
@variants
def test_for_sb3_games_equal_those_of_monitored_single_environments_step_by_step(
    kwargs: dict[str, Any],
) -> None:
    env, other = sb3_native(**kwargs), sb3_singles(**kwargs)
    assert env.seed(60) == other.seed(60) == [60, 61, 62, 63, 64]
    views, expected = env.reset(), other.reset()
    assert views.dtype == expected.dtype
    assert np.array_equal(views, expected)
    assert data_equivalence(env.reset_infos, other.reset_infos, exact=True)
    draw = np.random.default_rng(0)
    ends = 0
    for step in range(250):
        masks = env.env_method("action_masks")
        assert np.array_equal(masks, np.stack(other.env_method("action_masks")))
        actions = legal_actions(masks, draw)
        if step % 10 == 0:
            actions[step % 5] = 8
        *one, infos = env.step(actions)
        *two, expected_infos = other.step(actions)
        assert data_equivalence(one, two, exact=True)
        for info, expected_info in zip(infos, expected_infos, strict=True):
            assert data_equivalence(told(info), told(expected_info), exact=True)
        ends += int(one[2].sum())
    assert ends > 20


@needs_sb3
def test_for_sb3_the_reset_infos_follow_the_games_as_those_of_single_environments_do() -> None:
    env, other = sb3_native(num_pawns=1, seat=3), sb3_singles(num_pawns=1, seat=3)
    env.seed(2)
    other.seed(2)
    env.reset()
    other.reset()
    for _ in range(100):
        actions = env.env_method("action_masks").argmax(axis=1)
        env.step(actions)
        other.step(actions)
        assert data_equivalence(env.reset_infos, other.reset_infos, exact=True)


@needs_sb3
def test_for_sb3_a_truncated_game_is_told_from_a_terminated_one() -> None:
    env = sb3_native(3, num_players=2, max_rolls=2)
    env.set_options({"position": "44.43.42.40/7.3.0.0 0 -", "dice": [1, 4, 4]})
    env.reset()
    _, rewards, dones, infos = env.step(np.array([3, 3, 9]))
    assert dones.all()
    assert rewards.tolist() == [1, 1, -1]
    assert [info["TimeLimit.truncated"] for info in infos] == [False] * 3
    env.set_options({"position": "30.20.0.0/7.3.0.0 0 3", "dice": [1, 4, 4]})
    env.reset()
    ends: list[bool] = []
    while not ends:
        views, rewards, dones, infos = env.step(env.env_method("action_masks").argmax(axis=1))
        ends = [
            info["TimeLimit.truncated"] for info, done in zip(infos, dones, strict=True) if done
        ]
    assert ends == [True] * len(ends)
    assert not rewards.any()
    last = infos[int(np.argmax(dones))]["terminal_observation"]
    assert env.observation_space.contains(last)
    assert not np.array_equal(last, views[int(np.argmax(dones))])


@needs_sb3
def test_for_sb3_the_episodes_return_and_length_are_told_at_its_end() -> None:
    env = sb3_native(4, num_players=2, max_rolls=120, reward="shaped", seed=0)
    for _ in range(2):  # games given up before their end count for nothing
        env.reset()
        env.step(env.env_method("action_masks").argmax(axis=1))
    env.reset()
    returns, lengths = np.zeros(4), np.zeros(4, dtype=int)
    ends = 0
    for _ in range(250):
        _, rewards, dones, infos = env.step(env.env_method("action_masks").argmax(axis=1))
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == pytest.approx(returns[row], abs=1e-5)
            assert infos[row]["episode"]["l"] == lengths[row]
            returns[row] = lengths[row] = 0
            ends += 1
        assert all("episode" not in infos[row] for row in np.flatnonzero(~dones))
    assert ends > 8


@needs_sb3
def test_for_sb3_masks_of_all_games_are_answered_in_one_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import VecMonitor

    env = sb3_native(6, seed=0)
    env.reset()
    assert is_masking_supported(env)
    assert env.has_attr("action_masks")
    assert not env.has_attr("masks_of_action")
    assert len(env.get_attr("action_masks")) == 6
    assert len(env.get_attr("render_mode", indices=[0, 3])) == 2
    calls = []
    answer = type(env.env).action_masks
    monkeypatch.setattr(type(env.env), "action_masks", lambda self: calls.append(1) or answer(self))
    masks = get_action_masks(env)
    assert len(calls) == 1
    assert masks.shape == (6, 4)
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, get_action_masks(VecMonitor(env)))
    for indices, rows in ((None, range(6)), (2, [2]), ([5, 0], [5, 0]), (range(1, 3), [1, 2])):
        some = np.stack(env.env_method("action_masks", indices=indices))
        assert np.array_equal(some, masks[list(rows)])


@needs_sb3
def test_for_sb3_global_generators_are_neither_read_nor_written() -> None:
    games = []
    for global_seed in (1, 2):
        random.seed(global_seed)
        np.random.seed(global_seed)  # noqa: NPY002
        states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        env = sb3_native(seat="random", seed=5)
        views = [env.reset()]
        for _ in range(30):
            views.append(env.step(env.env_method("action_masks").argmax(axis=1))[0])
        sb3_native()
        unseeded = sb3_native(num_players=2)
        unseeded.seed()
        unseeded.reset()
        assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
        games.append(np.stack(views))
    assert np.array_equal(*games)


@needs_sb3
def test_for_sb3_a_seed_holds_for_the_next_reset_and_later_ones_are_the_next_games() -> None:
    env, plain = sb3_native(4, seed=3), native(4)
    assert np.array_equal(env.reset(), plain.reset(seed=3)[0])
    for _ in range(2):
        assert np.array_equal(env.reset(), plain.reset()[0])
    env.seed(3)
    assert np.array_equal(env.reset(), plain.reset(seed=3)[0])


@needs_sb3
def test_for_sb3_unseeded_environments_differ() -> None:
    seeds = [tuple(sb3_native(3).seed()) for _ in range(4)]
    assert len(set(seeds)) == 4
    assert all(later == first + i for first, *rest in seeds for i, later in enumerate(rest, 1))


@needs_sb3
def test_for_sb3_opponents_can_be_changed_for_all_games() -> None:
    agent = LastAgent()
    env = sb3_native(3, num_players=2, opponents="first", seed=1)
    env.reset()
    env.set_opponents(agent)
    env.step(env.env_method("action_masks").argmax(axis=1))
    assert agent.calls == []
    env.reset()
    for _ in range(20):
        env.step(env.env_method("action_masks").argmax(axis=1))
    assert {row for call in agent.calls for row in call} == {0, 1, 2}


@needs_sb3
def test_for_sb3_wrong_arguments_and_attributes_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="seat must be"):
        sb3_native(seat=9)
    with pytest.raises(ValueError, match="num_envs must be"):
        sb3_native(0)
    with pytest.raises(ValueError, match="'seat'"):
        sb3_native().set_attr("seat", 1)


@needs_sb3
@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "7", True], ids=repr)
def test_for_sb3_a_bad_seed_is_refused_by_name(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be"):
        sb3_native(seed=seed).reset()


@needs_sb3
def test_for_sb3_options_are_the_same_for_all_games() -> None:
    env = sb3_native(2, num_players=2)
    position = {"position": "20.10.0.0/12.0.0.0 0 3"}
    env.set_options([position, position])
    env.reset()
    assert env.env_method("action_masks").tolist() == [[True, True, False, False]] * 2
    env.set_options([position, {}])
    with pytest.raises(ValueError, match="options must be the same"):
        env.reset()


@needs_sb3
def test_for_sb3_a_pickle_made_in_mid_run_keeps_the_games_to_come() -> None:
    env = sb3_native(4, max_rolls=150, seat="random", reward="shaped", seed=4)
    env.reset()
    for _ in range(25):
        env.step(env.env_method("action_masks").argmax(axis=1))
    other = pickle.loads(pickle.dumps(env))
    ends = 0
    for _ in range(80):
        actions = env.env_method("action_masks").argmax(axis=1)
        *one, infos = env.step(actions)
        *two, other_infos = other.step(actions)
        assert data_equivalence(one, two, exact=True)
        assert data_equivalence([*map(told, infos)], [*map(told, other_infos)], exact=True)
        ends += int(one[2].sum())
    assert ends > 4


@needs_sb3
def test_for_sb3_maskable_ppo_learns_on_it_as_it_is() -> None:
    from sb3_contrib import MaskablePPO

    env = sb3_native(4, num_players=2, max_rolls=100, illegal_action="raise", seed=0)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=64,
        n_epochs=1,
        policy_kwargs={"net_arch": [8]},
        seed=0,
        device="cpu",
    )
    model.learn(384)
    assert model.num_timesteps == 384
    assert model.ep_info_buffer
    assert all(set(episode) == {"r", "l", "t"} for episode in model.ep_info_buffer)


# Before the first reset, and after a failure


def test_before_a_reset_nothing_is_legal_and_nothing_can_be_drawn() -> None:
    env = native(3, render_mode="ansi")
    assert env.action_masks().tolist() == [[False] * 4] * 3
    with pytest.raises(ValueError, match="reset"):
        env.render()


@pytest.mark.parametrize("make", [lambda **k: native(2, **k), single])
def test_an_unknown_argument_is_answered_with_all_that_are_known(make: Any) -> None:
    with pytest.raises(ValueError, match=r"'opponent'.*opponents, seat, illegal_action, rules"):
        make(opponent="random")


def test_a_reward_that_fails_in_a_step_asks_for_a_reset() -> None:
    class Failing(Win):
        def outcome(self, places: np.ndarray) -> np.ndarray:
            raise RuntimeError("no outcome")

    env = native(4, num_players=2, num_pawns=1, reward=Failing())
    _, infos = env.reset(seed=1)

    def play() -> None:
        seen = infos
        for _ in range(500):
            seen = env.step(seen["action_mask"].argmax(axis=1))[4]

    with pytest.raises(RuntimeError, match="no outcome"):
        play()
    with pytest.raises(ValueError, match="reset"):
        env.step(np.zeros(4, dtype=np.int64))


def test_an_agent_may_do_as_it_likes_with_the_rows_it_was_given() -> None:
    class Careless:
        def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
            actions = batch.scripted_actions(rows, "first")
            rows[:] = 0
            return actions

    careless, plain = native(8, opponents=Careless()), native(8, opponents="first")
    one, other = careless.reset(seed=1), plain.reset(seed=1)
    for _ in range(60):
        np.testing.assert_array_equal(one[0], other[0])
        actions = other[-1]["action_mask"].argmax(axis=1)
        one, other = careless.step(actions), plain.step(actions)


@needs_sb3
def test_for_sb3_actions_count_as_they_were_when_they_were_given() -> None:
    env, other = sb3_native(4, seed=1), sb3_native(4, seed=1)
    env.reset()
    other.reset()
    actions = env.env_method("action_masks").argmax(axis=1)
    env.step_async(actions)
    other.step_async(actions.copy())
    actions[:] = -1
    np.testing.assert_array_equal(env.step_wait()[0], other.step_wait()[0])
