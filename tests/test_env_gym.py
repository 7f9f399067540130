"""The game as a Gymnasium environment, with the opponents inside."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from test_careful import plain_action

import ludo_env
from ludo_env import Game, GameBatch, IllegalMoveError, Position, Rules
from ludo_env.agents.scripted import Scripted
from ludo_env.rewards import Shaped

ENV_ID = "ludo_env/Ludo-v0"
PLAYERS = (2, 3, 4)
SEATS = [(players, seat) for players in PLAYERS for seat in range(players)]
VARIANTS = {
    "default": {},
    "two players, any seat": {"num_players": 2, "seat": "random"},
    "several opponents": {"seat": 2, "opponents": ["first", "advance", "random"]},
    "shaped, forced moves skipped": {
        "num_players": 3,
        "reward": Shaped(0.97),
        "auto_forced": True,
    },
    "places, truncated": {"reward": "place", "max_rolls": 80, "illegal_action": "raise"},
    "two pawns": {"num_players": 2, "num_pawns": 2, "home_jumps": True, "pawn_on_start": True},
}
# In each of them it is player 0's turn, with a single legal move.
LOSES_TO_A_1 = "1.0.0.0/44.43.42.40 0 2"  # by action 0: player 1's next 1 wins
WINS_WITH_A_1 = "44.43.42.40/7.3.0.0 0 1"  # by action 3

variants = pytest.mark.parametrize("kwargs", VARIANTS.values(), ids=VARIANTS)
needs_sb3 = pytest.mark.skipif(
    importlib.util.find_spec("sb3_contrib") is None, reason="sb3-contrib is not installed"
)


class FirstAgent:
    """Plays the first legal action, and keeps which players it was asked for."""

    def __init__(self) -> None:
        self.players: list[int] = []

    def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
        self.players += batch.players[rows].tolist()
        return batch.masks(rows).argmax(axis=1)


class LastAgent:
    """Plays the last legal action."""

    def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
        return 3 - batch.masks(rows)[:, ::-1].argmax(axis=1)


class Answering:
    """Answers with whatever a function makes of the rows asked for."""

    def __init__(self, answer: Callable[[np.ndarray], Any]) -> None:
        self.answer = answer

    def act(self, batch: GameBatch, rows: np.ndarray) -> Any:
        return self.answer(rows)

    def __repr__(self) -> str:
        return "Answering"


def make(**kwargs: Any) -> gymnasium.Env:
    return gymnasium.make(ENV_ID, **kwargs)


def bare(**kwargs: Any) -> Any:
    return gymnasium.make(ENV_ID, disable_env_checker=True, **kwargs).unwrapped


def choice(mask: np.ndarray, draw: random.Random) -> int:
    return draw.choice(np.flatnonzero(mask).tolist())


def begun(steps: int = 0, seed: int = 0, **kwargs: Any) -> Any:
    """A bare environment some random moves into a game."""
    env = bare(**kwargs)
    env.reset(seed=seed)
    draw = random.Random(seed)
    for _ in range(steps):
        go_on(env, choice(env.action_masks(), draw))
    return env


def go_on(env: Any, action: int) -> None:
    """Step, and begin the next game after the end of one."""
    _, _, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        env.reset()


def before_an_illegal_action(**kwargs: Any) -> tuple[Any, int]:
    """A bare environment in mid-game, and an action that its mask forbids."""
    env = begun(15, **kwargs)
    while env.action_masks().all():
        go_on(env, 0)
    return env, int(np.argmin(env.action_masks()))


def play(env: gymnasium.Env, seed: int = 0) -> tuple[list[float], Any]:
    """Play random legal moves to the end; returns all rewards and the last step."""
    draw = random.Random(seed)
    masks = env.get_wrapper_attr("action_masks")
    rewards = []
    while True:
        last = env.step(choice(masks(), draw))
        rewards.append(last[1])
        if last[2] or last[3]:
            return rewards, last


def assert_same_future(env: Any, other: Any, steps: int = 100) -> None:
    """Two bare environments in mid-game go on alike under the same moves, into their next games."""
    draw = random.Random(0)
    for _ in range(steps):
        assert env.position == other.position
        assert env.seat == other.seat
        assert np.array_equal(env.action_masks(), other.action_masks())
        action = choice(env.action_masks(), draw)
        step = env.step(action)
        assert data_equivalence(step, other.step(action), exact=True)
        if step[2] or step[3]:
            assert data_equivalence(env.reset(), other.reset(), exact=True)
    assert data_equivalence(env.reset(), other.reset(), exact=True)


def trace(env: Any, decisions: int = 40, **reset: Any) -> list[str]:
    """The positions of the learner's first decisions, with its first legal action each time."""
    env.reset(**reset)
    positions = []
    for _ in range(decisions):
        positions.append(str(env.position))
        _, _, terminated, truncated, _ = env.step(int(np.argmax(env.action_masks())))
        if terminated or truncated:
            break
    return positions


def scripted(policy: str, game: Game) -> int:
    """What ``first``, ``advance`` and ``careful`` play."""
    moves = game.legal_moves()
    if policy == "careful":
        return plain_action(game.position, [move.action for move in moves], game.rules)
    captures = [move for move in moves if move.captured is not None]
    return (captures if policy == "advance" and captures else moves)[0].action


class ByHand:
    """The same game as an environment's, played with a `Game` and a plain loop."""

    def __init__(
        self, rules: Rules, seat: int, policies: list[str], seed: int, episode: int = 0
    ) -> None:
        self.game = Game(rules, seed=seed, episode=episode)
        self.seat = seat
        self.policies = policies
        self._let_opponents_play()

    def play(self, action: int) -> None:
        self.game.play(action)
        self._let_opponents_play()

    def _let_opponents_play(self) -> None:
        while self.game.player not in (None, self.seat):
            j = (self.game.player - self.seat - 1) % self.game.rules.num_players
            self.game.play(scripted(self.policies[j], self.game))


# ---------------------------------------------------------------- checkers


@variants
def test_gymnasiums_checker_passes_without_a_warning(kwargs: dict[str, Any]) -> None:
    kwargs = {**kwargs, "illegal_action": "lose"}  # it steps without masks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(bare(**kwargs))


@needs_sb3
@variants
def test_stable_baselines3s_checker_passes_without_a_warning(kwargs: dict[str, Any]) -> None:
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    kwargs = {**kwargs, "illegal_action": "lose"}  # it steps without masks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_for_sb3(bare(**kwargs))


@variants
def test_playing_through_gymnasiums_own_checks_gives_no_warning(kwargs: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make(**kwargs)
        for seed in range(2):
            env.reset(seed=seed)
            play(env)
        env.close()


def test_the_id_is_registered_once_and_makes_the_environment() -> None:
    ludo_env.registration.register()
    assert gymnasium.spec(ENV_ID).id == ENV_ID
    assert type(make().unwrapped).__name__ == "LudoEnv"
    assert make().spec.id == ENV_ID


def test_spaces_are_the_same_for_every_number_of_players_and_pawns() -> None:
    for num_players in PLAYERS:
        env = make(num_players=num_players, num_pawns=num_players - 1)
        assert env.action_space == gymnasium.spaces.Discrete(4)
        assert env.observation_space == make().observation_space
        assert env.observation_space is env.unwrapped.observation_space
    length = env.observation_space.shape[0]
    assert env.observation_space == gymnasium.spaces.Box(0, 1, (length,), np.int8)


# ---------------------------------------------------------------- the same game as by hand


@pytest.mark.parametrize("policy", ["first", "advance", "careful"])
@pytest.mark.parametrize(("num_players", "seat"), SEATS)
def test_a_game_is_the_one_a_plain_loop_plays_with_the_same_seed(
    num_players: int, seat: int, policy: str
) -> None:
    env = bare(num_players=num_players, seat=seat, opponents=policy)
    policies = [policy] * (num_players - 1)
    for episode in range(2):
        view, info = env.reset(seed=11 if episode == 0 else None)
        hand = ByHand(Rules(num_players), seat, policies, seed=11, episode=episode)
        draw = random.Random(episode)
        terminated = False
        while not terminated:
            assert env.position == hand.game.position
            assert np.array_equal(info["action_mask"], hand.game.action_mask())
            assert np.array_equal(view, hand.game.observation(seat))
            action = choice(info["action_mask"], draw)
            view, reward, terminated, truncated, info = env.step(action)
            hand.play(action)
            assert not truncated
            assert terminated == (hand.game.winner is not None)
        assert env.position == hand.game.position
        assert np.array_equal(view, hand.game.observation(seat))
        assert info["winner"] == hand.game.winner
        assert info["place"] == hand.game.places()[seat]
        assert reward == (1 if info["winner"] == seat else -1 / (num_players - 1))


def test_different_opponents_play_their_own_seats_as_by_hand() -> None:
    for seat in range(4):
        policies = ["first", "advance", "first"]
        env = bare(seat=seat, opponents=policies)
        env.reset(seed=2)
        hand = ByHand(Rules(), seat, policies, seed=2)
        while hand.game.winner is None:
            assert env.position == hand.game.position
            action = int(np.argmax(env.action_masks()))
            env.step(action)
            hand.play(action)
        assert env.position == hand.game.position


def test_the_learner_always_stands_at_a_decision_of_its_own() -> None:
    env = begun(seat="random")
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(60):
            assert env.position.player == env.seat
            assert env.position.die is not None
            assert env.action_masks().any()
            go_on(env, choice(env.action_masks(), random.Random(seed)))


# ---------------------------------------------------------------- opponents


def rolls_made(env: Any) -> int:
    return int(env._table.batch.rolls[0])


def dice_of(rules: Rules, seed: int, count: int) -> list[int]:
    """A seed's first rolls."""
    game = Game(rules, seed=seed)
    events = list(game.opening_events)
    while len([event for event in events if hasattr(event, "die")]) < count:
        events += game.play(game.legal_moves()[0].action)
    return [event.die for event in events if hasattr(event, "die")][:count]


@pytest.mark.parametrize("opponents", ["random", "first", FirstAgent(), LastAgent()])
@pytest.mark.parametrize("seat", [1, "random"])
def test_neither_opponents_nor_drawn_seats_take_or_change_dice(opponents: Any, seat: Any) -> None:
    dice = dice_of(Rules(), 21, 400)
    env = begun(seed=21, seat=seat, opponents=opponents)
    while rolls_made(env) < 400:
        assert env.position.die == dice[rolls_made(env) - 1]
        env.step(choice(env.action_masks(), random.Random(1)))


def test_random_opponents_repeat_their_moves_for_the_same_seed_and_vary_with_it() -> None:
    games = [trace(bare(opponents="random"), seed=5) for _ in range(3)]
    assert games[0] == games[1] == games[2]
    env = bare(opponents="random")
    script = {"dice": [6, 3, 5] * 200}
    same_dice = {tuple(trace(env, seed=seed, options=script)) for seed in range(6)}
    assert len(same_dice) == 6


def test_random_opponents_play_every_legal_move_now_and_then() -> None:
    position = "30.1.0.0/30.17.9.3 1 2"  # player 1 may move any of four pawns
    env = bare(num_players=2, opponents="random")
    reached = set()
    for seed in range(60):
        env.reset(seed=seed, options={"position": position})
        reached.add(env.position.pawns[1])
    assert len(reached) >= 4


def test_global_generators_are_neither_read_nor_written() -> None:
    games = []
    for global_seed in (1, 2):
        random.seed(global_seed)
        np.random.seed(global_seed)  # noqa: NPY002
        states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        env = bare(seat="random")
        games.append(trace(env, seed=3))
        env.reset()
        assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002
    assert games[0] == games[1]


@pytest.mark.parametrize(("num_players", "seat"), SEATS)
def test_opponent_j_plays_the_jth_player_after_the_learner(num_players: int, seat: int) -> None:
    opponents = [FirstAgent() for _ in range(num_players - 1)]
    begun(40, num_players=num_players, seat=seat, opponents=opponents)
    for j, opponent in enumerate(opponents):
        assert set(opponent.players) == {(seat + 1 + j) % num_players}


def test_opponents_follow_a_drawn_seat() -> None:
    opponents = [FirstAgent() for _ in range(3)]
    env = bare(seat="random", opponents=opponents)
    for seed in range(8):
        for opponent in opponents:
            opponent.players.clear()
        trace(env, seed=seed)
        for j, opponent in enumerate(opponents):
            assert set(opponent.players) == {(env.seat + 1 + j) % 4}


def test_one_opponent_plays_all_other_seats_given_alone_or_in_a_list() -> None:
    for given in (lambda agent: agent, lambda agent: [agent], lambda agent: [agent] * 3):
        agent = FirstAgent()
        begun(40, seat=1, opponents=given(agent))
        assert set(agent.players) == {0, 2, 3}


def test_an_opponent_may_be_a_spec_an_agent_or_its_module_and_attribute() -> None:
    forms = ["first", Scripted("first"), FirstAgent(), f"{__name__}:FirstAgent", ["first"] * 3]
    games = [trace(bare(opponents=form), seed=8) for form in forms]
    assert all(game == games[0] for game in games)
    assert trace(bare(opponents=LastAgent()), seed=8) != games[0]


def test_agent_objects_own_their_seeds() -> None:
    def game(agent_seed: int, seed: int = 4) -> list[str]:
        return trace(bare(opponents=Scripted("random", seed=agent_seed)), seed=seed)

    assert game(1) == game(1)
    assert game(1) != game(2)


class Peeking:
    """Plays the first legal action, and keeps what its batch would roll next."""

    def __init__(self) -> None:
        self.rolled: list[int] = []

    def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
        actions = batch.masks().argmax(axis=1)
        future = batch.copy()
        future.step(actions)
        self.rolled.append(int(future.dice[rows[0]]))
        return actions[rows]


@pytest.mark.parametrize("options", [None, {"dice": [6, 1, 2, 3, 4, 5] * 100}])
def test_agents_are_shown_games_whose_coming_dice_are_not_the_real_ones(options: Any) -> None:
    rolled: list[int] = []
    for seed in range(12):
        agent = Peeking()
        env = bare(num_players=2, opponents=agent)
        env.reset(seed=seed, options=options)
        hand = Game(Rules(2), seed=seed, dice=options and options["dice"])
        real = []
        while len(real) < 30:
            if hand.player == 1:
                future = hand.copy()
                future.play(future.legal_moves()[0].action)
                real.append(future.die)
            else:
                env.step(hand.legal_moves()[0].action)
            hand.play(hand.legal_moves()[0].action)
        rolled += [seen == true for seen, true in zip(agent.rolled, real, strict=False)]
    assert len(rolled) > 300
    assert sum(rolled) / len(rolled) < 0.3  # about a sixth by chance


def test_what_an_agent_does_to_its_batch_does_not_touch_the_game() -> None:
    class Vandal(FirstAgent):
        def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
            actions = super().act(batch, rows)
            batch.step(batch.masks().argmax(axis=1))
            batch.reset(seeds=1)
            return actions

    assert trace(bare(opponents=Vandal()), seed=6) == trace(bare(opponents="first"), seed=6)


BAD_ANSWERS = {
    "an illegal action": lambda rows: np.full(len(rows), 7),
    "a negative action": lambda rows: np.full(len(rows), -1),
    "none": lambda rows: None,
    "fractions": lambda rows: np.zeros(len(rows)),
    "booleans": lambda rows: np.zeros(len(rows), dtype=bool),
    "text": lambda rows: "0",
    "one for all": lambda rows: 0,
    "too many": lambda rows: np.zeros(len(rows) + 1, dtype=np.int64),
    "a column": lambda rows: np.zeros((len(rows), 1), dtype=np.int64),
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_an_opponent_that_answers_wrongly_is_one_error_that_names_it(answer: Any) -> None:
    env = bare(num_players=2, opponents=Answering(answer))
    with pytest.raises(ValueError, match="Answering") as caught:
        env.reset(seed=0, options={"position": "20.0.0.0/20.9.0.0 1 3"})
    assert caught.value.__cause__ is None


def test_after_an_opponents_wrong_answer_the_learner_never_plays_that_opponents_pawns() -> None:
    env = bare(num_players=2, opponents=Answering(lambda rows: np.full(len(rows), 7)))
    env.reset(seed=0, options={"position": "20.9.0.0/20.9.0.0 0 3"})
    with pytest.raises(ValueError, match="Answering"):
        env.step(0)
    with pytest.raises(ValueError, match=r"Answering|reset"):
        env.step(0)


@pytest.mark.parametrize(
    "refused",
    [{"seed": -1}, {"options": {"dice": [7]}}, {"options": {"position": "somewhere"}}],
    ids=["seed", "dice", "position"],
)
def test_a_refused_reset_does_not_mend_a_game_that_an_opponent_broke(
    refused: dict[str, Any],
) -> None:
    env = bare(num_players=2, opponents=Answering(lambda rows: None))
    env.reset(seed=0, options={"position": "20.9.0.0/20.9.0.0 0 3"})
    with pytest.raises(ValueError, match="Answering"):
        env.step(0)
    with pytest.raises(ValueError, match=r"seed|dice|position"):
        env.reset(**refused)
    with pytest.raises(ValueError, match=r"Answering|reset"):
        env.step(0)


def test_a_broken_game_stays_broken_where_a_position_that_ends_at_once_is_refused() -> None:
    env = bare(num_players=2, opponents=Answering(lambda rows: None))
    env.reset(seed=0, options={"position": "20.9.0.0/20.9.0.0 0 3"})
    with pytest.raises(ValueError, match="Answering"):
        env.step(0)
    env.set_opponents("first")
    with pytest.raises(ValueError, match="ends before"):
        env.reset(options=LOST_AT_ONCE)
    with pytest.raises(ValueError, match=r"Answering|reset"):
        env.step(0)


def test_after_an_opponents_wrong_answer_a_reset_with_another_plays_the_right_game() -> None:
    env = bare(num_players=2, opponents=Answering(lambda rows: None))
    with pytest.raises(ValueError, match="Answering"):
        trace(env, seed=0)
    env.set_opponents("first")
    assert trace(env, seed=3) == trace(bare(num_players=2, opponents="first"), seed=3)


def test_an_opponents_own_exception_comes_through() -> None:
    def fail(rows: np.ndarray) -> None:
        raise ZeroDivisionError("by the agent")

    with pytest.raises(ZeroDivisionError, match="by the agent"):
        begun(60, num_players=2, opponents=Answering(fail))


def test_set_opponents_takes_effect_at_the_next_reset_only() -> None:
    env, plain = begun(20, opponents="first"), begun(20, opponents="first")
    late = FirstAgent()
    env.set_opponents(late)
    draw = random.Random(0)
    for _ in range(60):
        assert env.position == plain.position
        action = choice(env.action_masks(), draw)
        env.step(action)
        plain.step(action)
    assert late.players == []
    env.reset()
    for _ in range(20):
        env.step(int(np.argmax(env.action_masks())))
    assert set(late.players) == {1, 2, 3}


def test_the_present_games_opponent_plays_on_after_set_opponents() -> None:
    present, following = FirstAgent(), LastAgent()
    env = begun(20, opponents=["first", present, LastAgent()])
    untouched = begun(20, opponents=["first", FirstAgent(), LastAgent()])
    env.set_opponents([following, following, "advance"])
    env.set_opponents([following, present, following])
    draw = random.Random(0)
    for _ in range(60):
        assert env.position == untouched.position
        action = choice(env.action_masks(), draw)
        env.step(action)
        untouched.step(action)


def test_bad_opponents_are_refused_and_the_chosen_ones_stay() -> None:
    env = begun(20, opponents="advance")
    for bad in ("nobody", 5, None, ["first"] * 2, ["first", "first", "nobody"], []):
        with pytest.raises(ValueError, match=r"opponent|agent"):
            env.set_opponents(bad)
    assert_same_future(env, begun(20, opponents="advance"))


# ---------------------------------------------------------------- ends


def test_a_game_lost_while_opponents_move_ends_that_same_step_with_the_losing_reward() -> None:
    for reward, expected in (("win", -1), ("place", -1), ("shaped", -1)):
        env = make(num_players=2, reward=reward, opponents="first")
        env.reset(seed=0, options={"position": LOSES_TO_A_1, "dice": [1]})
        before = env.unwrapped.position.pawns
        view, paid, terminated, truncated, info = env.step(0)
        if reward == "shaped":
            expected -= Shaped().potential(np.array([before], dtype=np.int8))[0, 0]
        assert paid == pytest.approx(expected)
        assert terminated
        assert not truncated
        assert info["winner"] == 1
        assert info["place"] == 2
        assert not info["action_mask"].any()
        assert env.observation_space.contains(view)


def test_a_won_game_ends_with_place_one() -> None:
    env = make(num_players=2)
    env.reset(options={"position": WINS_WITH_A_1})
    _, reward, terminated, _, info = env.step(3)
    assert reward == 1
    assert terminated
    assert (info["winner"], info["place"]) == (0, 1)
    assert set(info) == {"action_mask", "winner", "place"}


def test_place_pays_a_shared_place_the_mean_of_those_it_covers() -> None:
    env = make(num_players=4, seat=1, reward="place", opponents="first")
    position = "44.43.42.40/5.3.0.0/0.0.0.0/6.3.0.0 1 2"
    env.reset(options={"position": position, "dice": [5, 5, 5, 1, 1]})
    _, reward, terminated, _, info = env.step(0)
    assert terminated
    assert str(env.unwrapped.position) == "44.43.42.41/7.3.0.0/0.0.0.0/7.3.0.0 0 -"
    assert (info["winner"], info["place"]) == (0, 2)
    assert reward == pytest.approx(0)  # second and third place alone would get 1/3 and −1/3


@pytest.mark.parametrize("num_players", PLAYERS)
def test_rewards_before_the_end_are_zero_and_infos_hold_the_mask_alone(num_players: int) -> None:
    env = begun(num_players=num_players)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        assert set(info) == {"action_mask", "skipped_games"}
        over = False
        while not over:
            step = env.step(choice(env.action_masks(), random.Random(seed)))
            over = step[2]
            if not over:
                assert step[1] == 0
                assert set(step[4]) == {"action_mask"}
        assert set(step[4]) == {"action_mask", "place", "winner"}


@pytest.mark.parametrize("opponents", ["random", FirstAgent()])
@pytest.mark.parametrize("reward", ["win", "place"])
@pytest.mark.parametrize("max_rolls", [1, 60, 61])
def test_max_rolls_truncates_before_the_next_decision_and_pays_nothing(
    max_rolls: int, reward: str, opponents: Any
) -> None:
    env = bare(max_rolls=max_rolls, reward=reward, opponents=opponents)
    for seed in range(4):
        env.reset(seed=seed)
        truncated = False
        while not truncated:
            _, paid, terminated, truncated, info = env.step(int(np.argmax(env.action_masks())))
            assert paid == 0
            assert not terminated
            assert set(info) == {"action_mask"}
            assert truncated == (rolls_made(env) >= max_rolls)
        assert not info["action_mask"].any()
        assert not env.action_masks().any()


def test_a_game_decided_by_its_last_roll_is_terminated_not_truncated() -> None:
    env = bare(num_players=2, max_rolls=1)
    env.reset(options={"position": "44.43.42.40/7.3.0.0 0 -", "dice": [1]})
    _, reward, terminated, truncated, _ = env.step(3)
    assert (reward, terminated, truncated) == (1, True, False)


def test_scripted_and_asked_opponents_are_cut_off_at_the_same_position() -> None:
    for max_rolls in range(40, 60):
        ends = []
        for opponents in ("first", FirstAgent()):
            env = bare(max_rolls=max_rolls, opponents=opponents)
            env.reset(seed=max_rolls)
            _, last = play(env)
            assert last[3]
            ends.append((env.position, last[0].tolist()))
        assert ends[0] == ends[1]


@pytest.mark.parametrize("opponents", ["random", FirstAgent()])
def test_auto_forced_never_shows_a_decision_with_one_legal_move(opponents: Any) -> None:
    env = bare(num_players=2, auto_forced=True, opponents=opponents)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            assert info["action_mask"].sum() >= 2
            action = choice(info["action_mask"], random.Random(seed))
            _, _, terminated, _, info = env.step(action)


def test_auto_forced_plays_the_plain_game_with_its_forced_moves_made() -> None:
    plain = begun(seed=5, opponents="advance")
    short = begun(seed=5, opponents="advance", auto_forced=True)
    draw = random.Random(0)
    for _ in range(20):
        while plain.action_masks().sum() == 1:
            plain.step(int(np.argmax(plain.action_masks())))
        assert plain.position == short.position
        action = choice(short.action_masks(), draw)
        plain.step(action)
        short.step(action)


def test_auto_forced_asks_agents_for_real_choices_only() -> None:
    class Choosing(FirstAgent):
        def act(self, batch: GameBatch, rows: np.ndarray) -> np.ndarray:
            assert (batch.masks(rows).sum(axis=1) >= 2).all()
            return super().act(batch, rows)

    agent = Choosing()
    begun(60, auto_forced=True, opponents=agent)
    assert agent.players


def test_games_that_leave_nobody_a_choice_are_refused_rather_than_dealt_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deal = GameBatch.reset
    deals = []

    def counted(*args: Any, **kwargs: Any) -> None:
        deals.append(args)
        assert len(deals) < 100, "reset deals games for ever"
        deal(*args, **kwargs)

    monkeypatch.setattr(GameBatch, "reset", counted)
    with pytest.raises(ValueError, match="auto_forced"):
        bare(num_players=2, num_pawns=1, auto_forced=True).reset(seed=0)


# ---------------------------------------------------------------- shaping


@pytest.mark.parametrize("discount", [1.0, 0.97])
@pytest.mark.parametrize(
    "kwargs",
    [
        {"num_players": 2, "seat": "random"},
        {"num_players": 3, "auto_forced": True, "opponents": FirstAgent()},
        {"num_players": 4, "seat": 3},
    ],
    ids=["two", "three", "four"],
)
def test_the_discounted_shaped_return_is_the_discounted_win_less_the_first_potential(
    kwargs: dict[str, Any], discount: float
) -> None:
    reward = Shaped(discount)
    env = bare(reward=reward, **kwargs)
    for seed in range(4):
        env.reset(seed=seed)
        pawns = np.array([env.position.pawns], dtype=np.int8)
        first = reward.potential(pawns)[0, env.seat]
        rewards, (*_, info) = play(env, seed)
        won = 1 if info["winner"] == env.seat else -1 / (kwargs["num_players"] - 1)
        discounted = sum(discount**t * paid for t, paid in enumerate(rewards))
        assert discounted == pytest.approx(discount ** (len(rewards) - 1) * won - first)
        assert any(paid != 0 for paid in rewards[:-1])


@pytest.mark.parametrize("discount", [1.0, 0.97])
def test_a_truncated_shaped_return_keeps_the_last_potential(discount: float) -> None:
    reward = Shaped(discount)
    env = bare(num_players=2, reward=reward, max_rolls=150)
    for seed in range(4):
        env.reset(seed=seed)
        potentials = []
        for _ in range(2):
            pawns = np.array([env.position.pawns], dtype=np.int8)
            potentials.append(reward.potential(pawns)[0, 0])
            if len(potentials) == 1:
                rewards, last = play(env, seed)
        assert last[3]
        discounted = sum(discount**t * paid for t, paid in enumerate(rewards))
        kept = discount ** len(rewards) * potentials[1]
        assert discounted == pytest.approx(kept - potentials[0])


def test_an_illegal_action_ends_the_shaping_at_zero() -> None:
    env, illegal = before_an_illegal_action(num_players=2, reward="shaped")
    pawns = np.array([env.position.pawns], dtype=np.int8)
    potential = Shaped().potential(pawns)[0, 0]
    assert potential != 0
    assert env.step(illegal)[1] == pytest.approx(-1 - potential)


# ---------------------------------------------------------------- masks


@variants
def test_masks_agree_everywhere_and_are_those_of_the_position(kwargs: dict[str, Any]) -> None:
    env = bare(**kwargs)
    _, info = env.reset(seed=1)
    for _ in range(60):
        masks = env.action_masks()
        assert masks.dtype == np.bool_
        assert masks.shape == (4,)
        assert info["action_mask"].dtype == np.int8
        assert np.array_equal(masks, info["action_mask"])
        here = Game(env.rules, position=env.position)
        assert np.array_equal(masks, here.action_mask())
        action = int(env.action_space.sample(info["action_mask"]))
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            assert not env.action_masks().any()
            _, info = env.reset()


def test_masks_are_fresh_arrays_that_their_receiver_may_write_on() -> None:
    env, illegal = before_an_illegal_action(num_players=2)
    masks = env.action_masks()
    masks[:] = True
    assert not env.action_masks()[illegal]
    assert env.action_masks() is not env.action_masks()
    assert env.step(illegal)[4]["illegal_action"]


def test_returned_observations_and_infos_never_change_afterwards() -> None:
    env = bare(num_players=2, max_rolls=120)
    kept = []
    for _ in range(2):
        returned = [env.reset(seed=1)]
        while len(returned[-1]) == 2 or not returned[-1][3]:
            returned.append(env.step(int(np.argmax(env.action_masks()))))
            kept.append((returned[-1], copy.deepcopy(returned[-1])))
    for now, then in kept:
        assert data_equivalence(now, then, exact=True)


def test_masks_are_found_through_gymnasiums_wrappers() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(
        gymnasium.wrappers.TimeLimit(make(), max_episode_steps=50)
    )
    _, info = env.reset(seed=0)
    for _ in range(20):
        assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"])
        *_, info = env.step(int(np.argmax(info["action_mask"])))


@needs_sb3
def test_masks_are_found_through_stable_baselines3s_monitor_and_vector_environment() -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    monitored = Monitor(make())
    monitored.reset(seed=3)
    assert is_masking_supported(monitored)
    expected = begun(seed=3).action_masks()
    assert np.array_equal(get_action_masks(monitored), expected)
    venv = DummyVecEnv([lambda: Monitor(make(seat="random")) for _ in range(3)])
    assert is_masking_supported(venv)
    venv.seed(3)
    venv.reset()
    for _ in range(20):
        masks = get_action_masks(venv)
        assert masks.shape == (3, 4)
        assert masks.dtype == np.bool_
        for mask, sub in zip(masks, venv.envs, strict=True):
            assert np.array_equal(mask, sub.unwrapped.action_masks())
        venv.step(masks.argmax(axis=1))


@needs_sb3
def test_masks_are_found_in_a_spawned_process_that_plays_the_same_games() -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    def sub() -> gymnasium.Env:
        import ludo_env  # noqa: F401 (a fresh process knows the id from here)

        return gymnasium.make("ludo_env/Ludo-v0", num_players=2, opponents="advance")

    near = DummyVecEnv([sub])
    far = SubprocVecEnv([sub], start_method="spawn")
    try:
        assert is_masking_supported(far)
        for venv in (near, far):
            venv.seed(17)
        assert np.array_equal(near.reset(), far.reset())
        for _ in range(60):
            masks = get_action_masks(far)
            assert np.array_equal(masks, get_action_masks(near))
            actions = masks.argmax(axis=1)
            for here, there in zip(near.step(actions)[:3], far.step(actions)[:3], strict=True):
                assert np.array_equal(here, there)
    finally:
        far.close()


# ---------------------------------------------------------------- actions


@pytest.mark.parametrize(
    "as_given",
    [np.int64, np.int8, np.uint32, np.array, lambda a: np.array([a]), lambda a: np.array([[a]])],
)
def test_actions_may_be_numpys_integers_and_arrays_of_one(as_given: Any) -> None:
    env, plain = begun(), begun()
    for _ in range(40):
        action = int(np.argmax(env.action_masks()))
        one, other = env.step(as_given(action)), plain.step(action)
        assert data_equivalence(one, other, exact=True)


@pytest.mark.parametrize(
    "action",
    [None, 1.0, "0", True, [0], np.array([0, 1]), np.array([0.0]), np.array([], dtype=np.int64)],
    ids=repr,
)
@pytest.mark.parametrize("illegal_action", ["lose", "raise"])
def test_anything_but_an_integer_is_refused_and_nothing_changes(
    illegal_action: str, action: Any
) -> None:
    env = begun(20, illegal_action=illegal_action, reward="shaped")
    with pytest.raises(ValueError, match="action must be an integer 0 to 3, got "):
        env.step(action)
    assert_same_future(env, begun(20, illegal_action=illegal_action, reward="shaped"))


@pytest.mark.parametrize(
    ("reward", "loss"), [("win", -1 / 3), ("place", -1), (Shaped(0.9), None)], ids=str
)
def test_an_illegal_action_loses_by_default(reward: Any, loss: float | None) -> None:
    env, illegal = before_an_illegal_action(reward=reward)
    position = env.position
    if loss is None:
        pawns = np.array([position.pawns], dtype=np.int8)
        loss = -1 / 3 - reward.potential(pawns)[0, 0]
    view, paid, terminated, truncated, info = env.step(illegal)
    assert paid == pytest.approx(loss)
    assert terminated
    assert not truncated
    assert set(info) == {"action_mask", "illegal_action"}
    assert info["illegal_action"] is True
    assert not info["action_mask"].any()
    assert env.observation_space.contains(view)
    assert env.position == position
    with pytest.raises(ValueError, match=r"reset\(\)"):
        env.step(0)


@pytest.mark.parametrize("action", [-1, 4, np.int64(9), -(2**63)], ids=repr)
def test_a_number_that_is_no_action_loses_as_an_illegal_one(action: Any) -> None:
    env = begun(10)
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["illegal_action"]) == (-1 / 3, True, True)


@pytest.mark.parametrize("illegal_action", ["lose", "raise"])
@pytest.mark.parametrize("action", [2**63, -(2**70), np.uint64(2**63)], ids=repr)
def test_a_number_of_any_size_is_judged_as_an_action(action: Any, illegal_action: str) -> None:
    env = begun(10, illegal_action=illegal_action)
    if illegal_action == "lose":
        assert env.step(action)[4]["illegal_action"]
    else:
        with pytest.raises(ValueError, match="action"):
            env.step(action)


def test_the_game_after_a_lost_one_is_right_again() -> None:
    env, illegal = before_an_illegal_action(num_players=2, reward="shaped")
    env.step(illegal)
    env.reset()
    fresh = begun(num_players=2, reward="shaped")
    fresh.reset()
    assert_same_future(env, fresh)


@variants
def test_an_illegal_action_raises_on_request_and_nothing_changes(kwargs: dict[str, Any]) -> None:
    kwargs = {**kwargs, "illegal_action": "raise"}
    env, illegal = before_an_illegal_action(**kwargs)
    untouched = copy.deepcopy(env)
    with pytest.raises(IllegalMoveError, match="legal: "):
        env.step(illegal)
    assert_same_future(env, untouched)


def test_stepping_before_a_reset_or_after_the_end_is_a_clear_error() -> None:
    env = bare(num_players=2)
    with pytest.raises(ValueError, match=r"reset\(\)"):
        env.step(0)
    assert not env.action_masks().any()
    env.reset(options={"position": WINS_WITH_A_1})
    env.step(3)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"reset\(\)"):
            env.step(0)
    wrapped = make()
    with pytest.raises(gymnasium.error.ResetNeeded):
        wrapped.step(0)


# ---------------------------------------------------------------- seats and seeds


@pytest.mark.parametrize("num_players", PLAYERS)
def test_random_seats_cover_all_players_evenly_and_repeat_with_the_seed(num_players: int) -> None:
    def seats() -> list[int]:
        env = bare(num_players=num_players, seat="random", opponents="first")
        env.reset(seed=0)
        drawn = [env.seat]
        for _ in range(239):
            env.reset()
            drawn.append(env.seat)
        return drawn

    drawn = seats()
    counts = np.bincount(drawn, minlength=num_players)
    assert len(counts) == num_players
    assert counts.min() > 240 / num_players / 2
    assert seats() == drawn


def test_random_seats_vary_with_the_seed_alone() -> None:
    env = bare(seat="random", opponents="first")
    drawn = []
    for seed in range(40):
        env.reset(seed=seed)
        drawn.append(env.seat)
    assert set(drawn) == {0, 1, 2, 3}


@pytest.mark.parametrize("opponents", ["random", ["first", "advance", "random"]])
def test_a_drawn_seats_game_is_the_fixed_seats_game(opponents: Any) -> None:
    env = bare(seat="random", opponents=opponents)
    for episode in range(5):
        env.reset(seed=30 if episode == 0 else None)
        fixed = bare(seat=env.seat, opponents=opponents)
        fixed.reset(seed=30)
        for _ in range(episode):
            fixed.reset()
        assert env.position == fixed.position
        for _ in range(20):
            action = int(np.argmax(env.action_masks()))
            assert data_equivalence(env.step(action), fixed.step(action), exact=True)


def test_a_seed_repeats_its_games_whatever_was_played_before() -> None:
    fresh, used = bare(seat="random"), begun(30, seed=1, seat="random")
    games = [trace(fresh, seed=8), trace(fresh), trace(fresh)]
    assert [trace(used, seed=8), trace(used), trace(used)] == games
    assert len({tuple(game) for game in games}) == 3


def test_unseeded_environments_differ() -> None:
    assert len({tuple(trace(bare(num_players=2))) for _ in range(8)}) == 8


@pytest.mark.parametrize("seed", [np.int64(7), np.uint8(7), np.array(7)], ids=repr)
def test_seeds_may_be_numpys_integers(seed: Any) -> None:
    assert trace(bare(), seed=seed) == trace(bare(), seed=7)


@pytest.mark.parametrize("seed", [-1, np.int64(-3), 2**63, 1.5, "7", True, [7]], ids=repr)
def test_other_seeds_are_refused_and_the_present_game_goes_on(seed: Any) -> None:
    env = begun(20)
    with pytest.raises(ValueError, match="seed must be an integer from 0 to"):
        env.reset(seed=seed)
    assert_same_future(env, begun(20))


# ---------------------------------------------------------------- reset options


def test_opponents_move_first_where_the_position_says_so() -> None:
    env = bare(num_players=3, opponents="first")
    position = "20.0.0.0/20.9.0.0/20.9.0.0 1 3"
    env.reset(seed=1, options={"position": position, "dice": [2, 4]})
    assert str(env.position) == "20.0.0.0/23.9.0.0/22.9.0.0 0 4"


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "Position"])
def test_a_game_begins_where_the_options_say_and_other_keys_are_ignored(as_text: bool) -> None:
    env = make(num_players=2)
    text = "20.10.0.0/12.0.0.0 0 3"
    position = text if as_text else Position.parse(text, Rules(2))
    _, info = env.reset(seed=1, options={"position": position, "volume": 11})
    assert str(env.unwrapped.position) == text
    assert info["action_mask"].tolist() == [1, 1, 0, 0]
    assert info["skipped_games"] == 0


def test_options_hold_for_one_game_only() -> None:
    env = bare(num_players=2)
    env.reset(seed=5, options={"position": "20.10.0.0/12.0.0.0 0 3", "dice": [6, 6, 6]})
    plain = begun(seed=5, num_players=2)
    assert trace(env) == trace(plain)


BAD_OPTIONS = {
    "finished": {"position": "44.43.42.41/7.0.0.0 0 -"},
    "two pawns on a square": {"position": "7.7.0.0/0.0.0.0 0 3"},
    "two players on a square": {"position": "21.0.0.0/1.0.0.0 0 3"},
    "no such player": {"position": "7.0.0.0/0.0.0.0 2 3"},
    "not of the form": {"position": "somewhere"},
    "no position": {"position": 12},
    "a die of seven": {"dice": [6, 7]},
    "dice as text": {"dice": "66"},
    "a good position with bad dice": {"position": "7.0.0.0/0.0.0.0 0 3", "dice": [0]},
    "a list": ["position"],
}


@pytest.mark.parametrize("options", BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_options_are_refused_by_name_and_the_present_game_goes_on(options: Any) -> None:
    env = begun(20, num_players=2, reward="shaped")
    name = "options" if isinstance(options, list) else list(options)[-1]
    with pytest.raises(ValueError, match=name):
        env.reset(seed=99, options=options)
    assert_same_future(env, begun(20, num_players=2, reward="shaped"))


LOST_AT_ONCE = {"position": "7.0.0.0/44.43.42.40 1 1"}


def test_a_position_whose_game_ends_before_the_learners_decision_is_refused() -> None:
    env = bare(num_players=2, opponents="first")
    with pytest.raises(ValueError, match=r"position .* ends before the learner's first decision"):
        env.reset(seed=0, options=LOST_AT_ONCE)


def test_after_such_a_refusal_the_present_game_goes_on() -> None:
    env = begun(20, num_players=2, opponents="first")
    with pytest.raises(ValueError, match="ends before"):
        env.reset(seed=0, options=LOST_AT_ONCE)
    assert_same_future(env, begun(20, num_players=2, opponents="first"))


@pytest.mark.parametrize("seat", [3, "random"])
def test_a_game_over_before_the_learners_first_decision_is_dealt_again_and_counted(
    seat: Any,
) -> None:
    env = bare(num_pawns=1, seat=seat, opponents="first")
    counted = 0
    for seed in range(600):
        _, info = env.reset(seed=seed)
        skipped = info["skipped_games"]
        assert type(skipped) is int
        assert env.position.player == env.seat
        for episode in range(skipped if seat == 3 else 0):
            lost = ByHand(Rules(4, 1), 3, ["first"] * 3, seed, episode)
            assert lost.game.winner in (0, 1, 2)
        if seat == 3:
            dealt = ByHand(Rules(4, 1), 3, ["first"] * 3, seed, skipped)
            assert dealt.game.position == env.position
        counted += skipped
    assert counted >= 2


def test_the_count_of_skipped_games_starts_anew_with_each_reset() -> None:
    env = bare(num_pawns=1, seat=3, opponents="first")
    for seed in range(600):
        if env.reset(seed=seed)[1]["skipped_games"]:
            break
    assert env.reset()[1]["skipped_games"] == 0


# ---------------------------------------------------------------- copies


COPIED = {**VARIANTS, "agents": {"opponents": [FirstAgent(), "random", LastAgent()], "seat": 1}}


@pytest.mark.parametrize("kwargs", COPIED.values(), ids=COPIED)
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_made_in_mid_game_keeps_the_game_and_what_is_to_come(
    copied: Any, kwargs: dict[str, Any]
) -> None:
    env = begun(20, seed=6, **kwargs)
    other = copied(env)
    before = env.position
    assert_same_future(other, begun(20, seed=6, **kwargs))
    assert env.position == before
    assert_same_future(env, begun(20, seed=6, **kwargs))


def test_a_wrapped_environment_can_be_copied_too() -> None:
    env = make()
    env.reset(seed=2)
    other = pickle.loads(pickle.dumps(copy.deepcopy(env)))
    assert data_equivalence(play(env), play(other), exact=True)


def test_a_copy_of_an_ended_game_is_ended_and_its_reset_is_the_next_game() -> None:
    env = begun(num_players=2)
    play(env)
    other = copy.deepcopy(env)
    with pytest.raises(ValueError, match=r"reset\(\)"):
        other.step(0)
    assert data_equivalence(env.reset(), other.reset(), exact=True)


# ---------------------------------------------------------------- rendering and arguments


def test_ansi_renders_the_board_as_text_that_follows_the_game() -> None:
    env = make(num_players=2, render_mode="ansi")
    env.reset(seed=0)
    pictures = set()
    for _ in range(15):
        picture = env.render()
        assert isinstance(picture, str)
        pictures.add(picture)
        env.step(int(np.argmax(env.unwrapped.action_masks())))
    assert len(pictures) > 5
    env.close()
    env.close()


def test_rendering_without_a_mode_warns_and_before_a_reset_is_an_error() -> None:
    with pytest.warns(UserWarning, match="render_mode"):
        assert begun().render() is None
    with pytest.raises(ValueError, match=r"reset\(\)"):
        bare(render_mode="ansi").render()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"players": 3}, "'players'.*num_players, num_pawns"),
        ({"num_players": 5}, "num_players must be .* got 5"),
        ({"rules": 4}, "rules must be .* got 4"),
        ({"rules": Rules(2), "num_pawns": 3}, "either rules or the fields.*num_pawns"),
        ({"reward": "money"}, "reward must be one of 'win', 'place', 'shaped'.*got 'money'"),
        ({"auto_forced": "yes"}, "auto_forced must be True or False, got 'yes'"),
        ({"max_rolls": 0}, "max_rolls must be .* got 0"),
        ({"seat": 4}, "seat must be 0 to 3 or 'random', got 4"),
        ({"seat": 2, "num_players": 2}, "seat must be 0 to 1 or 'random', got 2"),
        ({"seat": -1}, "seat must be .* got -1"),
        ({"seat": "first"}, "seat must be .* got 'first'"),
        ({"seat": True}, "seat must be .* got True"),
        ({"illegal_action": "ignore"}, "illegal_action must be 'lose' or 'raise', got 'ignore'"),
        ({"opponents": "nobody"}, "agent 'nobody'; known are random, first"),
        ({"opponents": ["first"] * 2}, "opponents must be one or a list of 3, got 2"),
        ({"opponents": []}, "opponents must be one or a list of 3, got 0"),
        ({"opponents": 5}, "agent must be .* got 5"),
        ({"opponents": FirstAgent}, "agent must be .* got .*FirstAgent"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_by_name(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**kwargs)


def test_an_unknown_render_mode_is_refused() -> None:
    with (
        pytest.warns(UserWarning, match="smoke"),  # Gymnasium's own
        pytest.raises(ValueError, match=r"render_mode must be .* got 'smoke'"),
    ):
        make(render_mode="smoke")


def test_rules_may_be_given_as_an_object_or_by_their_fields_and_a_seat_as_numpys_integer() -> None:
    whole = bare(rules=Rules(3, 2, pawn_on_start=True), seat=np.int64(2))
    fields = bare(num_players=3, num_pawns=2, pawn_on_start=True, seat=2)
    assert whole.rules == fields.rules == Rules(3, 2, pawn_on_start=True)
    assert trace(whole, seed=1) == trace(fields, seed=1)
