"""Pictures of the board: what is drawn, that all media agree on it, and what environments show."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import gymnasium
import moviepy
import numpy as np
import pettingzoo
import pygame
import pytest
from kinds import RULES_OF_PLAY
from pettingzoo.test import render_test
from PIL import Image

from ludo_env import Game, Position, Records, Rules, arena, ludo_v0
from ludo_env.cli import main
from ludo_env.render import plots
from ludo_env.render.animation import frames_of
from ludo_env.render.drawing import (
    COLOURS,
    MARK,
    SIDE,
    TABLE,
    Disc,
    Extras,
    LastMove,
    board,
    pawn,
    pieces,
)
from ludo_env.render.image import board_image
from ludo_env.render.svg import board_svg
from ludo_env.render.text import board_text, coloured_text
from ludo_env.render.window import BoardWindow

FOUR = Rules()
TEXT = "41.12.1.0/44.23.3.0/39.28.0.0/30.17.5.0 0 6"
POSITION = Position.parse(TEXT, FOUR)
SVG = "{http://www.w3.org/2000/svg}"
GOLDEN = Path(__file__).parent / "golden"


def pawns_drawn(position: Position, rules: Rules) -> list[Disc]:
    return [
        shape
        for shape in pieces(position, rules)
        if isinstance(shape, Disc) and shape.fill in COLOURS and shape.radius == 0.33
    ]


@pytest.mark.parametrize("rules", RULES_OF_PLAY[::5], ids=str)
def test_every_pawn_is_drawn_once_each_on_a_place_of_its_own(rules):
    game = Game(rules, seed=3)
    for _ in range(60):
        if game.winner is not None:
            break
        drawn = pawns_drawn(game.position, rules)
        assert len(drawn) == rules.num_players * rules.num_pawns
        assert len({(round(disc.x, 6), round(disc.y, 6)) for disc in drawn}) == len(drawn)
        places = {
            (round(shape.x, 6), round(shape.y, 6))
            for shape in board(rules)
            if isinstance(shape, Disc)
        }
        columns = {
            (round(shape.x + shape.width / 2, 6), round(shape.y + shape.height / 2, 6))
            for shape in board(rules)
            if not isinstance(shape, Disc) and hasattr(shape, "height")
        }
        assert all((round(d.x, 6), round(d.y, 6)) in places | columns for d in drawn)
        game.play(game.legal_moves()[0].action)


def test_everything_stays_on_the_board():
    for shape in [*board(FOUR), *pieces(POSITION, FOUR, Extras(legal=(12, 1, 0)))]:
        if isinstance(shape, Disc):
            assert shape.radius <= min(shape.x, shape.y, SIDE - shape.x, SIDE - shape.y)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_players_differ_by_a_sign_too_and_stand_out_from_the_table():
    signs = [list(pawn(0, 0, player))[1] for player in range(4)]
    kinds = {(type(sign).__name__, len(getattr(sign, "points", ()))) for sign in signs}
    assert len(kinds) == 4
    for colour in COLOURS:  # WCAG 2.1 asks 3 : 1 of graphics
        assert (luminance(TABLE) + 0.05) / (luminance(colour) + 0.05) > 3


KNOWN = {
    2: Position.parse("43.20.7.0/1.0.0.0 1 -", Rules(2)),
    3: Position.parse("40.0.0.0/44.42.0.0/1.0.0.0 2 6", Rules(3)),
    4: POSITION,
}
"""Positions whose pictures were looked at; `python tests/test_pictures.py` makes them anew."""


def extras_of(players: int) -> Extras:
    return extras_of_all() if players == 4 else Extras()


@pytest.mark.parametrize("players", KNOWN)
def test_svg_is_what_it_was(players):
    """Structurally."""
    drawn = ET.fromstring(board_svg(KNOWN[players], Rules(players), extras_of(players)))
    golden = ET.fromstring((GOLDEN / f"board{players}.svg").read_text(encoding="utf-8"))
    assert [(e.tag, e.attrib, e.text) for e in drawn.iter()] == [
        (e.tag, e.attrib, e.text) for e in golden.iter()
    ]


@pytest.mark.parametrize("players", KNOWN)
def test_pixels_are_what_they_were(players):
    """Within what letters and edges may differ by between versions of pygame."""
    drawn = board_image(KNOWN[players], Rules(players), extras_of(players), 300).astype(int)
    golden = np.asarray(Image.open(GOLDEN / f"board{players}.png")).astype(int)
    differs = np.abs(drawn - golden).max(axis=2)
    assert differs.mean() < 0.5
    assert (differs > 40).mean() < 0.002


def extras_of_all() -> Extras:
    return Extras(legal=(12, 1), shares={12: 0.7, 1: 0.3}, last=LastMove(3, 12, 17, True))


def test_svg_says_in_words_what_it_shows():
    root = ET.fromstring(board_svg(POSITION, FOUR))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text.startswith("player 0 plays a 6; player 0: 41, 12, 1, yard; player 1: 44")
    assert root.get("role") == "img"


def test_moves_their_shares_and_the_last_move_are_marked():
    text = board_svg(POSITION, FOUR, extras_of_all())
    assert text.count(f'stroke="{MARK}" stroke-width="0.1"') == 2
    assert "70%" in text
    assert "30%" in text
    assert text.count("<line") == 3  # an arrow and a cross
    assert board_svg(POSITION, FOUR).count("<line") == 0


@pytest.mark.parametrize("die", [None, 1, 2, 3, 4, 5, 6])
def test_the_die_shows_its_pips_in_the_middle(die):
    position = Position(POSITION.pawns, 0, die)
    pips = [s for s in pieces(position, FOUR) if isinstance(s, Disc) and s.radius == 0.075]
    assert len(pips) == (die or 0)
    assert all(abs(pip.x - SIDE / 2) < 0.5 and abs(pip.y - SIDE / 2) < 0.5 for pip in pips)


def test_a_winner_has_the_middle():
    position = Position.parse("44.43.42.41/0.0.0.0/0.0.0.0/0.0.0.0 0 -", FOUR)
    middle = [
        s for s in pieces(position, FOUR) if isinstance(s, Disc) and abs(s.x - SIDE / 2) < 1e-9
    ]
    assert [disc.fill for disc in middle] == [COLOURS[0]]


@pytest.mark.parametrize("size", [300, 600, 1200])
def test_pixels_have_each_players_colour_where_its_pawns_are(size):
    image = board_image(POSITION, FOUR, size=size)
    assert image.shape == (size, size, 3)
    assert image.dtype == np.uint8
    for disc in pawns_drawn(POSITION, FOUR):
        x, y = (round(value * size / SIDE) for value in (disc.x - 0.26, disc.y))
        colour = [int(disc.fill[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.abs(image[y, x].astype(int) - colour).max() < 40


def test_pixels_are_those_of_the_same_shapes_at_any_size():
    small = board_image(POSITION, FOUR, extras_of_all(), 300).astype(float)
    large = board_image(POSITION, FOUR, extras_of_all(), 1200).astype(float)
    shrunk = large.reshape(300, 4, 300, 4, 3).mean(axis=(1, 3))
    assert np.abs(small - shrunk).mean() < 3.0


def test_images_are_the_receivers_own():
    first = board_image(POSITION, FOUR)
    again = board_image(POSITION, FOUR)
    again[:] = 0
    np.testing.assert_array_equal(board_image(POSITION, FOUR), first)


def test_an_impossible_position_is_not_drawn():
    for draw in (board_svg, board_image):
        with pytest.raises(ValueError, match="2 pawns on progress 5"):
            draw(Position(((5, 5, 0, 0), (0,) * 4, (0,) * 4, (0,) * 4), 0), FOUR)


def test_games_and_positions_show_themselves_in_notebooks():
    game = Game(FOUR, position=TEXT)
    assert ET.fromstring(game._repr_svg_()).tag == f"{SVG}svg"
    assert game._repr_svg_().count(f'stroke="{MARK}" stroke-width="0.1"') == len(game.legal_moves())
    two = Position.parse("12.1/40.3 0 -", Rules(num_players=2, num_pawns=2))
    assert "player 0 is to roll" in two._repr_svg_()


# Environments


@pytest.fixture
def no_screen(monkeypatch):
    """Windows on a display that is not there; no waiting."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("ludo_env.envs.showing.RENDER_FRAMES", 10_000)
    yield
    pygame.display.quit()


@pytest.mark.usefixtures("no_screen")
def test_pettingzoos_own_test_of_rendering():
    render_test(lambda render_mode: ludo_v0.env(render_mode=render_mode))


class Shown:
    """Counts what windows are shown."""

    def __init__(self, monkeypatch):
        self.count = 0
        plain = BoardWindow.show

        def show(window, surface):
            self.count += window.is_open
            plain(window, surface)

        monkeypatch.setattr(BoardWindow, "show", show)


@pytest.mark.usefixtures("no_screen")
@pytest.mark.parametrize(
    "make",
    [
        lambda: gymnasium.make("ludo_env/Ludo-v0", render_mode="human").unwrapped,
        lambda: ludo_v0.raw_env(render_mode="human"),
    ],
)
def test_a_window_follows_the_game_until_the_user_closes_it(make, monkeypatch):
    shown = Shown(monkeypatch)
    env, other = make(), make()
    for own in (env, other):
        own.reset(seed=1)
    assert shown.count == 2
    take_a_step(env)
    assert shown.count == 3
    window = env._screen._window
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window._window))
    take_a_step(env)
    take_a_step(env)
    assert not window.is_open
    assert shown.count == 4  # the closing is heeded when the next board is to be shown
    assert other._screen._window.is_open
    env.close()
    env.reset(seed=2)
    assert shown.count == 5
    assert env.render() is None
    for own in (env, other, env):
        own.close()


def take_a_step(env) -> None:
    if hasattr(env, "agents"):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    else:
        env.step(int(env.action_masks().argmax()))


@pytest.mark.usefixtures("no_screen")
def test_copies_of_an_environment_open_windows_of_their_own():
    env = ludo_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert copied._screen._window is None
        assert copied.render() is None
        assert copied._screen._window is not env._screen._window
        copied.close()
    assert env._screen._window.is_open
    env.close()


def test_windows_end_cleanly_whether_closed_or_left_open():
    """Off the screen SDL draws with OpenGL, where a renderer that outlives its window crashes."""
    code = (
        "import pygame\n"
        "from ludo_env.render.window import BoardWindow\n"
        "for _ in range(30):\n"
        "    window = BoardWindow('board', 100, 10_000)\n"
        "    window.show(pygame.Surface((100, 100)))\n"
        "    window.close()\n"
        "left = BoardWindow('board', 100, 10_000)\n"
    )
    offscreen = os.environ | {"SDL_VIDEODRIVER": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=offscreen, check=False, capture_output=True, text=True
    )
    if "not available" in done.stderr:
        pytest.skip("this SDL cannot draw off the screen")
    assert done.returncode == 0, done.stderr


def test_without_a_display_a_window_says_what_to_do_instead():
    code = (
        "from ludo_env import ludo_v0\n"
        "env = ludo_v0.raw_env(render_mode='human')\n"
        "try: env.reset(seed=1)\n"
        "except RuntimeError as error: print(error)\n"
    )
    bare = {name: value for name, value in os.environ.items() if "SDL" not in name}
    bare |= {"SDL_VIDEODRIVER": "x11", "DISPLAY": ":77"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, check=False, capture_output=True, text=True
    )
    assert "rgb_array" in done.stdout, done.stderr


@pytest.mark.parametrize("size", [64, 300])
def test_environments_show_pixels_of_the_size_asked_for(size):
    env = gymnasium.make("ludo_env/Ludo-v0", render_mode="rgb_array", render_size=size)
    _, info = env.reset(seed=1)
    frame = env.render()
    expected = board_image(env.unwrapped.position, Rules(), Extras(legal=legal(env, info)), size)
    np.testing.assert_array_equal(frame, expected)


def legal(env, info) -> tuple[int, ...]:
    own = env.unwrapped.position.pawns[env.unwrapped.seat]
    return tuple(own[k] for k in np.flatnonzero(info["action_mask"]).tolist())


def test_the_last_move_is_an_arrow_until_the_next_game_begins():
    rules = Rules(2)
    env = gymnasium.make("ludo_env/Ludo-v0", render_mode="rgb_array", num_players=2)
    begin = {"position": "12.0.0.0/35.3.0.0 0 3", "dice": [1, 1, 1, 2]}
    env.reset(seed=1, options=begin)
    *_, info = env.step(0)  # which captures
    last = LastMove(0, 12, 15, True)
    expected = board_image(env.unwrapped.position, rules, Extras(legal(env, info), last=last))
    np.testing.assert_array_equal(env.render(), expected)
    _, info = env.reset(seed=1)
    expected = board_image(env.unwrapped.position, rules, Extras(legal(env, info)))
    np.testing.assert_array_equal(env.render(), expected)


def test_an_illegal_action_moves_nothing_in_the_picture():
    env = gymnasium.make("ludo_env/Ludo-v0", render_mode="rgb_array", num_players=2)
    env.reset(seed=1)
    env.step(3)
    expected = board_image(env.unwrapped.position, Rules(2))
    np.testing.assert_array_equal(env.render(), expected)


def test_all_players_moves_are_arrows_in_the_pettingzoo_environment():
    env = ludo_v0.raw_env(render_mode="rgb_array", num_players=2)
    env.reset(seed=1)
    for _ in range(30):
        before, player = env.game.copy(), env.game.player
        env.step(int(env.last()[0]["action_mask"].argmax()))
        move = before.legal_moves()[0]
        last = LastMove(player, move.source, move.target, move.captured is not None)
        marks = tuple(move.source for move in env.game.legal_moves())
        expected = board_image(env.game.position, Rules(2), Extras(marks, last=last))
        np.testing.assert_array_equal(env.render(), expected)
    env.reset(seed=1)
    marks = tuple(move.source for move in env.game.legal_moves())
    expected = board_image(env.game.position, Rules(2), Extras(marks))
    np.testing.assert_array_equal(env.render(), expected)


def test_a_batched_environment_shows_each_games_last_move():
    env = gymnasium.make_vec(
        "ludo_env/Ludo-v0",
        num_envs=3,
        vectorization_mode="vector_entry_point",
        render_mode="rgb_array",
        render_size=128,
        num_players=2,
    )
    _, info = env.reset(seed=1)
    batch = env.unwrapped.table.batch
    before = [batch.position(row) for row in range(3)]
    actions = info["action_mask"].argmax(axis=1)
    _, _, _, _, info = env.step(actions)
    for row, frame in enumerate(env.render()):
        move = Game(Rules(2), position=before[row]).legal_moves()[0]
        last = LastMove(before[row].player, move.source, move.target, move.captured is not None)
        own = batch.position(row).pawns[batch.position(row).player]
        marks = tuple(own[k] for k in np.flatnonzero(info["action_mask"][row]).tolist())
        expected = board_image(batch.position(row), Rules(2), Extras(marks, last=last), 128)
        np.testing.assert_array_equal(frame, expected)


def test_a_batched_environment_forgets_the_last_move_of_a_game_that_has_ended():
    env = gymnasium.make_vec(
        "ludo_env/Ludo-v0",
        num_envs=2,
        vectorization_mode="vector_entry_point",
        render_mode="rgb_array",
        num_players=2,
        num_pawns=1,
    )
    _, info = env.reset(seed=1)
    ended = np.zeros(2, dtype=bool)
    while not ended.any() or ended.all():
        *_, terminated, _, info = env.step(info["action_mask"].argmax(axis=1))
        ended = terminated
    assert [move is None for move in env.unwrapped._last_moves] == ended.tolist()
    env.reset(seed=1)
    assert env.unwrapped._last_moves == [None, None]


@pytest.mark.parametrize("render_mode", ["rgb_array", "ansi"])
def test_two_thousand_resets_with_pictures_take_no_more_memory(render_mode):
    code = f"""
import gymnasium, ludo_env
from ludo_env import ludo_v0

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def show(count):
    for seed in range(count):
        _, info = env.reset(seed=seed)
        env.render()
        env.step(int(info["action_mask"].argmax()))
        env.render()
        table.reset(seed=seed)
        table.render()

env = gymnasium.make("ludo_env/Ludo-v0", render_mode={render_mode!r}, render_size=300)
table = ludo_v0.env(render_mode={render_mode!r}, render_size=300)
show(200)
before = resident()
show(2000)
print(resident() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 20e6


def test_a_batched_environment_shows_every_game():
    env = gymnasium.make_vec(
        "ludo_env/Ludo-v0",
        num_envs=3,
        vectorization_mode="vector_entry_point",
        render_mode="rgb_array",
        render_size=64,
    )
    env.reset(seed=1)
    frames = env.render()
    assert [frame.shape for frame in frames] == [(64, 64, 3)] * 3


@pytest.mark.parametrize("size", [0, 63, 5000, 1.5, "large", True])
def test_sizes_that_cannot_be_are_refused(size):
    with pytest.raises(ValueError, match="render_size"):
        ludo_v0.raw_env(render_mode="rgb_array", render_size=size)


def test_pixels_need_no_display():
    code = (
        "from ludo_env import ludo_v0\n"
        "env = ludo_v0.raw_env(render_mode='rgb_array'); env.reset(seed=1)\n"
        "assert env.render().shape == (600, 600, 3)\n"
    )
    bare = {name: value for name, value in os.environ.items() if "SDL" not in name}
    bare.pop("DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_environments_side_by_side_do_not_disturb_each_other():
    envs = [ludo_v0.raw_env(render_mode="rgb_array", num_players=2 + i % 3) for i in range(20)]
    for i, env in enumerate(envs):
        env.reset(seed=i)
    frames = [env.render() for env in envs]
    for env, frame in zip(reversed(envs), reversed(frames), strict=True):
        np.testing.assert_array_equal(env.render(), frame)


# The command


def test_the_command_draws_text_and_pictures(tmp_path, capsys):
    assert main(["render", TEXT]) == 0
    assert "player 0 to play a 6" in capsys.readouterr().out
    assert main(["render", TEXT, "--out", str(tmp_path / "board.svg"), "--size", "300"]) == 0
    assert ET.parse(tmp_path / "board.svg").getroot().get("width") == "300"
    assert main(["render", TEXT, "--out", str(tmp_path / "board.png"), "--size", "300"]) == 0
    assert (tmp_path / "board.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nonsense"], "no position"),
        (["5.5.0.0/0.0.0.0 0 6"], "2 pawns on progress 5"),
        ([TEXT, "--out", "board.gif"], "svg"),
        ([TEXT, "--out", "board.svg", "--size", "1"], "size"),
        ([TEXT, "--out", "/no/such/folder/board.svg"], "/no/such/folder"),
        ([TEXT, "--out", "/no/such/folder/board.png"], "/no/such/folder"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(arguments, complaint, capsys):
    assert main(["render", *arguments]) == 2
    error = capsys.readouterr().err
    assert re.search(complaint, error)
    assert error.count("\n") == 1


def test_on_a_terminal_the_board_has_colours_and_is_the_same_without_them():
    coloured = coloured_text(POSITION, FOUR)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == board_text(POSITION, FOUR)
    for digit in "0123":  # each player's pawns are painted, all in one way
        codes = set(re.findall(rf"\x1b\[(1;7;\d+)m{digit}\x1b", coloured))
        assert len(codes) == 1
    assert len(set(re.findall(r"\x1b\[1;7;(\d+)m", coloured))) == 4


@pytest.mark.parametrize(
    ("is_terminal", "variables", "is_coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    is_terminal, variables, is_coloured, monkeypatch, capsys
):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert main(["render", TEXT]) == 0
    assert ("\x1b[" in capsys.readouterr().out) == is_coloured


# Films


def played_to_the_end(env) -> int:
    """Plays a game by first legal actions; how many there were."""
    count = 0
    if hasattr(env, "agent_iter"):
        env.reset(seed=1)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            done = terminated or truncated
            env.step(None if done else int(observation["action_mask"].argmax()))
            count += not done
        return count
    _, info = env.reset(seed=1)
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        done = terminated or truncated
        count += 1
    return count


@pytest.mark.parametrize(
    ("make", "recorder"),
    [
        (
            lambda **arguments: gymnasium.make("ludo_env/Ludo-v0", **arguments),
            gymnasium.wrappers.RecordVideo,
        ),
        (ludo_v0.env, pettingzoo.utils.wrappers.RecordVideo),
    ],
    ids=["Gymnasium", "PettingZoo"],
)
def test_the_libraries_recorders_film_a_game(make, recorder, tmp_path):
    folder = tmp_path / "films"
    env = make(render_mode="rgb_array", render_size=128, num_players=2, num_pawns=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the encoder's own
        env = recorder(env, str(folder), episode_trigger=lambda _: True)
        count = played_to_the_end(env)
        env.close()
        (path,) = folder.glob("*.mp4")
        with moviepy.VideoFileClip(str(path)) as film:
            assert film.fps == 4
            assert film.reader.n_frames >= count
            first, last = film.get_frame(0), film.get_frame(film.duration - 0.3)
    assert 150 < first.mean() < 250
    assert np.abs(first.astype(int) - last).mean() > 1


def test_a_moving_picture_shows_every_decision_and_the_end(tmp_path):
    path = tmp_path / "games.jsonl"
    results = arena.play(["advance", "random"], games=2, rules=Rules(2, 2), seed=1, file=path)
    record = Records(path)[0]
    assert len(results) == 2
    out = tmp_path / "game.gif"
    flags = ["--out", str(out), "--no-open", "--size", "200", "--seconds", "0.1"]
    assert main(["replay", str(path), "--game", "0", *flags]) == 0
    frames = list(frames_of(record))
    with Image.open(out) as film:
        assert film.n_frames == len(record.actions) + 1
        assert film.info["duration"] == 100
        assert film.info["loop"] == 0
        for number in (0, len(frames) // 2, len(frames) - 1):
            film.seek(number)
            shown = np.asarray(film.convert("RGB")).astype(int)
            expected = board_image(*frames[number][:1], Rules(2, 2), frames[number].extras, 200)
            assert np.abs(shown - expected).mean() < 4
    assert frames[-1].position == record.replay().end


@pytest.mark.parametrize("flags", [["--size", "1"], ["--seconds", "0"], ["--seconds", "nan"]])
def test_a_moving_picture_that_cannot_be_is_refused(flags, tmp_path, capsys):
    out = tmp_path / "game.gif"
    assert main(["replay", TEXT, "--out", str(out), "--no-open", *flags]) == 2
    assert flags[0] in capsys.readouterr().err
    assert not out.exists()


# Plots


def test_lines_of_plots_differ_by_dash_and_by_marker_not_by_colour_alone():
    styles = [plots.line_style(number) for number in range(6)]
    for name in ("color", "linestyle", "marker"):
        assert len({str(style[name]) for style in styles}) == 6


def test_the_chances_of_a_game_can_be_plotted(tmp_path):
    path, out = tmp_path / "games.jsonl", tmp_path / "chances.png"
    arena.play(["careful", "random"], games=2, rules=Rules(2), seed=1, file=path)
    assert main(["replay", str(path), "--out", str(out), "--no-open"]) == 0
    with Image.open(out) as drawn:
        assert min(drawn.size) > 300
    shares = np.array([[0.5, 0.5], [0.2, 0.8], [0.0, 1.0]])
    (axes,) = plots.chances(["a", "b"], shares, [(1, 0)], "td").axes
    lines = [line.get_ydata().tolist() for line in axes.get_lines()]
    assert lines == [[0.5, 0.2, 0.0], [0.5, 0.8, 1.0], [0.2]]


def make_goldens() -> None:
    for players, position in KNOWN.items():
        rules, extras = Rules(players), extras_of(players)
        text = board_svg(position, rules, extras)
        (GOLDEN / f"board{players}.svg").write_text(text, encoding="utf-8")
        Image.fromarray(board_image(position, rules, extras, 300)).save(
            GOLDEN / f"board{players}.png", optimize=True
        )


if __name__ == "__main__":
    make_goldens()
