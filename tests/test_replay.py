"""Pages that show a game: what they say of it, and how they do so in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from browsing import chromium, page_of, pawns_on
from kinds import RULES_OF_PLAY
from PIL import Image

from ludo_env import Position, Record, Records, Rules, arena, make_agent, write_records
from ludo_env.agents.exact import ExactAgent
from ludo_env.agents.mind import thoughts
from ludo_env.cli import main
from ludo_env.core.batch import GameBatch
from ludo_env.play.sitting import Sitting
from ludo_env.render.drawing import place_of
from ludo_env.web.replay import replay_page, story

TWO = Rules(num_players=2)


def played(*seats: str, rules: Rules = TWO, seed: int = 1, decisions: int = 10_000) -> Record:
    sitting = Sitting(seats, rules, seed=seed)
    while not sitting.is_over and decisions > 0:
        sitting.play_agent()
        decisions -= 1
    return sitting.record()


@pytest.fixture(scope="module")
def record() -> Record:
    return played("careful", "random")


@pytest.fixture(scope="module")
def told(record):
    return story(record, make_agent("td"), None)


@pytest.mark.parametrize("rules", RULES_OF_PLAY[::5], ids=str)
def test_every_decision_of_any_game_has_its_frame_and_the_end_one_more(rules):
    record = played(*["advance", "random", "first", "careful"][: rules.num_players], rules=rules)
    frames = story(record, make_agent("td"), None)["frames"]
    steps = record.replay().steps
    assert len(frames) == len(steps) + 1
    for frame, step in zip(frames, steps, strict=False):
        assert Position(frame["pawns"], frame["player"], frame["die"]) == step.position
        assert frame["moves"][frame["played"]]["action"] == step.action
    assert frames[-1]["winner"] == record.replay().end.winner


def test_the_chances_are_the_judges_and_end_at_what_happened(record, told):
    batch = GameBatch.from_positions([record.replay().steps[30].position], TWO)
    mind = thoughts(make_agent("td"), batch, np.arange(1))
    frame = told["frames"][30]
    for move in frame["moves"]:
        expected = mind.chances[0, move["action"], frame["player"]]
        assert move["chance"] == pytest.approx(expected, abs=1e-4)
    assert sum(frame["chances"]) == pytest.approx(1, abs=1e-3)
    assert max(move["chance"] for move in frame["moves"]) == frame["chances"][frame["player"]]
    assert told["frames"][-1]["chances"][record.places.index(1)] == 1


def test_a_solution_judges_exactly(solved):
    rules = Rules(2, 2)
    solution = solved(rules)
    record = played("random", "random", rules=rules)
    frames = story(record, ExactAgent(solution), None)["frames"]
    for frame, step in zip(frames, record.replay().steps, strict=False):
        exact = solution.values_after(step.position)
        shown = {move["action"]: move["chance"] for move in frame["moves"]}
        assert shown == pytest.approx(exact, abs=1e-4)


def test_a_policys_choices_stand_beside_the_moves(record):
    frames = story(record, make_agent("td"), make_agent("advance"))["frames"]
    assert all(
        sum(move["chosen"] for move in frame["moves"]) == 1 for frame in frames if "played" in frame
    )


def test_a_game_that_was_not_played_out_ends_with_the_decision_at_hand():
    record = played("careful", "random", decisions=9)
    frames = story(record, make_agent("td"), None)["frames"]
    assert len(frames) == 10
    assert "played" not in frames[-1]
    assert frames[-1]["moves"]


def test_the_events_before_a_decision_are_told_and_its_move_drawn(record, told):
    steps = record.replay().steps
    for number, (step, frame) in enumerate(zip(steps, told["frames"][1:], strict=True)):
        moved = step.events[0]
        assert frame["told"].startswith(f"{record.agents[moved.player]} ({moved.player}) moves")
        assert frame["last"]["target"] == moved.move.target
        assert frame["last"]["captured"] == (moved.move.captured is not None), number


def test_an_agent_that_tells_no_chances_cannot_judge(record):
    with pytest.raises(ValueError, match="does not tell chances"):
        replay_page(record, make_agent("advance"))


def test_names_that_look_like_markup_stay_names():
    record = Record.of([], ["</script><b>&", "{{board}}"], rules=TWO, seed=1)
    page = replay_page(record, make_agent("td"))
    assert "</script><b>" not in page
    assert "&lt;/script&gt;&lt;b&gt;&amp;" in page
    assert page.count("<svg id=") == 2  # the board and the curve
    assert "<h1>&lt;/script&gt;&lt;b&gt;&amp; – {{board}}</h1>" in page


def forfeited(record: Record, *players: int) -> Record:
    return Record.of(
        map(int, record.actions),
        record.agents,
        rules=record.rules,
        seed=record.seed,
        forfeits=players,
    )


def test_a_game_that_was_forfeited_ends_with_who_won_it(record):
    home = record.places.index(1)
    told = story(forfeited(record, home), make_agent("td"), None)
    assert [player["forfeited"] for player in told["players"]] == [home == 0, home == 1]
    assert told["frames"][-1]["chances"] == [float(home == 1), float(home == 0)]
    nobody = story(forfeited(record, 0, 1), make_agent("td"), None)
    assert nobody["frames"][-1]["chances"] == [0, 0]


def test_a_page_of_700_rolls_is_below_500_kb_and_loads(browser, tmp_path):
    games = (played(*["random"] * 4, rules=Rules(), seed=seed) for seed in range(100))
    long = next(record for record in games if len(record.dice) >= 700)
    path = tmp_path / "long.html"
    path.write_text(replay_page(long, make_agent("td"), make_agent("td:1")), encoding="utf-8")
    assert path.stat().st_size < 500_000
    with page_of(browser) as page:
        page.goto(path.as_uri())
        page.wait_for_selector("#list li")
        timing = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        print(f"{len(long.dice)} rolls, {path.stat().st_size} bytes: {timing:.0f} ms")


# In the browser


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(record, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("page") / "game.html"
    path.write_text(replay_page(record, make_agent("td"), make_agent("td:2")), encoding="utf-8")
    return path.as_uri()


def expected_pawns(pawns) -> list[tuple[float, float]]:
    return sorted(
        (round(x, 2), round(y, 2))
        for player, own in enumerate(pawns)
        for rank, progress in enumerate(own)
        for x, y in [place_of(player, progress, 3 - rank, TWO)]
    )


def test_stepping_to_the_end_by_keys_shows_every_position_of_the_record(browser, address, record):
    replay = record.replay()
    with page_of(browser, offline=True) as page:
        page.goto(address)
        for step in replay.steps:
            assert pawns_on(page) == expected_pawns(step.position.pawns)
            page.keyboard.press("ArrowRight")
        assert pawns_on(page) == expected_pawns(replay.end.pawns)
        assert "has won." in page.locator("#told").inner_text()
        page.keyboard.press("ArrowRight")  # there is no more
        for step in reversed(replay.steps[-3:]):
            page.keyboard.press("ArrowLeft")
            assert pawns_on(page) == expected_pawns(step.position.pawns)


def test_buttons_slider_curve_and_list_all_lead_to_a_decision(browser, address, record):
    steps = record.replay().steps
    number = len(steps) // 2

    def shows(page, decision):
        return pawns_on(page) == expected_pawns(steps[decision].position.pawns)

    with page_of(browser) as page:
        page.goto(address)
        page.get_by_role("button", name="One decision on").click()
        assert shows(page, 1)
        page.get_by_role("button", name="One decision back").click()
        assert shows(page, 0)
        page.locator("#list button").nth(number).click()
        assert shows(page, number)
        page.get_by_role("slider").fill(str(number + 7))
        assert shows(page, number + 7)
        box = page.locator("#curve").bounding_box()
        page.locator("#curve").click(position={"x": box["width"] / 2, "y": box["height"] / 2})
        assert shows(page, number) or shows(page, number + 1)
        page.keyboard.press("End")
        assert pawns_on(page) == expected_pawns(record.replay().end.pawns)
        page.keyboard.press("Home")
        assert shows(page, 0)
        page.keyboard.press("PageDown")
        assert shows(page, 10)


def test_the_keys_do_the_same_on_the_slider(browser, address):
    with page_of(browser) as page:
        page.goto(address)
        page.get_by_role("slider").focus()
        for key, decision in (
            ("PageDown", 10),
            ("PageDown", 20),
            ("PageUp", 10),
            ("ArrowRight", 11),
            ("ArrowLeft", 10),
            ("Home", 0),
        ):
            page.keyboard.press(key)
            assert page.evaluate("current") == decision
        page.keyboard.press(" ")
        assert page.get_by_role("button", name="Pause").count() == 1


def test_decisions_are_counted_without_the_end(browser, address, record):
    with page_of(browser) as page:
        page.goto(address)
        count = len(record.actions)
        assert f"Decision 1 of {count}: " in page.locator("#decision-title").inner_text()
        assert f"{count} decisions" in page.locator("header").inner_text()
        page.keyboard.press("End")
        assert page.locator("#decision-title").inner_text() == "The end"
        assert page.get_by_role("slider").get_attribute("aria-valuetext") == "the end"


def test_who_forfeited_is_told_at_the_end(browser, record, tmp_path):
    home = record.places.index(1)
    path = tmp_path / "forfeited.html"
    path.write_text(replay_page(forfeited(record, home), make_agent("td")), encoding="utf-8")
    with page_of(browser) as page:
        page.goto(path.as_uri())
        page.keyboard.press("End")
        told = page.locator("#told").inner_text()
        assert told.endswith(f"({home}) forfeited. {record.agents[1 - home]} ({1 - home}) has won.")
        assert page.locator("#legend li").nth(home).inner_text().count("place 2, forfeited") == 1


def test_the_decision_at_hand_is_in_sight_in_the_list(browser, address):
    with page_of(browser) as page:
        page.goto(address)
        for key in ("End", "ArrowLeft", "PageUp", "PageUp", "Home"):
            page.keyboard.press(key)
            current = page.locator("#list [aria-current]")
            if key == "End":
                assert current.count() == 0
                continue
            box, outer = current.bounding_box(), page.locator("#list").bounding_box()
            assert outer["y"] <= box["y"] <= outer["y"] + outer["height"] - box["height"] + 1


def test_play_goes_on_by_itself_and_pauses(browser, address):
    with page_of(browser) as page:
        page.goto(address)
        page.select_option("#speed", "250")
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_function("current >= 3")
        page.get_by_role("button", name="Pause").click()
        stopped = page.evaluate("current")
        page.wait_for_timeout(600)
        assert page.evaluate("current") == stopped


def test_moves_are_shown_with_their_chances_what_they_cost_and_what_the_policy_would_play(
    browser, address, told
):
    number = next(k for k, frame in enumerate(told["frames"]) if len(frame["moves"]) > 1)
    frame = told["frames"][number]
    with page_of(browser) as page:
        page.goto(address)
        page.locator("#list button").nth(number).click()
        rows = page.locator("#moves tr")
        assert rows.count() == 1 + len(frame["moves"])
        for row, move in enumerate(frame["moves"], 1):
            text = rows.nth(row).inner_text()
            assert move["name"] in text
            assert f"{100 * move['chance']:.1f} %" in text
            assert ("← played" in text) == (row - 1 == frame["played"])
        assert "td:2" in rows.nth(0).inner_text()
        assert page.locator("#board .marks text").count() == len(frame["moves"])


def test_mistakes_are_marked_in_the_list_and_on_the_curve(browser, address, told):
    def loss(frame):
        if "played" not in frame:
            return 0
        chances = [move["chance"] for move in frame["moves"]]
        return max(chances) - chances[frame["played"]]

    losses = [loss(frame) for frame in told["frames"]]
    blunders = sum(loss >= 0.05 for loss in losses)
    mistakes = sum(loss >= 0.02 for loss in losses)
    assert mistakes > blunders > 0
    with page_of(browser) as page:
        page.goto(address)
        entries = page.locator("#list button").all_inner_texts()
        assert sum(text.endswith("??") for text in entries) == blunders
        assert sum(text.endswith("?") for text in entries) == mistakes
        assert page.locator("#curve .mistake").count() == mistakes


def test_who_cannot_see_the_board_is_told_of_it(browser, address):
    with page_of(browser) as page:
        page.goto(address)
        page.keyboard.press("ArrowRight")
        assert page.locator("#told").get_attribute("aria-live") == "polite"
        board = page.get_by_role("img", name=re.compile("player 0: .*; player 1: "))
        assert board.count() == 1
        for role in ("button", "slider", "combobox"):
            for control in page.get_by_role(role).all()[:8]:
                assert control.evaluate("e => (e.ariaLabel || e.textContent || e.labels?.length)")
        assert page.get_by_role("slider").get_attribute("aria-valuetext").startswith("decision 2")


@pytest.mark.parametrize("width", [320, 380, 1280])
def test_a_page_is_as_wide_as_the_screen_and_no_wider(browser, address, width):
    with page_of(browser, viewport={"width": width, "height": 800}) as page:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_screenshot_shows_the_board_that_is_shown_anywhere(browser, address, record, tmp_path):
    """Against the picture that environments show of the position, pawns by their colours."""
    from ludo_env.render.image import board_image

    with page_of(browser, viewport={"width": 1280, "height": 1000}) as page:
        page.goto(address)
        page.keyboard.press("End")
        pawns_on(page)
        page.evaluate("document.querySelector('#board .trace').remove()")
        page.locator("#board").screenshot(path=tmp_path / "board.png")
    shot = Image.open(tmp_path / "board.png").convert("RGB").resize((300, 300))
    drawn = board_image(record.replay().end, TWO, size=300).astype(int)
    assert np.abs(np.asarray(shot).astype(int) - drawn).mean() < 6


# The command


@pytest.fixture
def file(record, tmp_path) -> Path:
    write_records(tmp_path / "games.jsonl", [record, played("td", "first", seed=2)])
    return tmp_path / "games.jsonl"


def test_the_command_writes_the_page_of_a_game(file, capsys):
    assert main(["replay", str(file), "--no-open"]) == 0
    path = file.with_name("games-0.html")
    assert capsys.readouterr().out.strip() == str(path)
    assert "<title>careful – random</title>" in path.read_text(encoding="utf-8")
    assert main(["replay", str(file), "--no-open", "--game", "1", "--judge", "td:2"]) == 0
    text = file.with_name("games-1.html").read_text(encoding="utf-8")
    found = re.search(r'id="story">(.*?)</script>', text)
    assert json.loads(found[1])["judge"] == "td:2"


def test_the_command_opens_the_page(file, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["replay", str(file)]) == 0
    assert opened == [file.with_name("games-0.html").as_uri()]


def test_the_command_shows_a_position(tmp_path):
    path = tmp_path / "position.html"
    text = " 12.5.0.0/40.3.0.0 0 3 "
    assert main(["replay", text, "--no-open", "--out", str(path)]) == 0
    found = re.search(r'id="story">(.*?)</script>', path.read_text(encoding="utf-8"))
    (frame,) = json.loads(found[1])["frames"]
    assert len(frame["moves"]) == 2


def test_the_command_prints_a_game_by_turns(file, capsys):
    assert main(["replay", str(file), "--text"]) == 0
    assert capsys.readouterr().out.rstrip() == Records(file)[0].text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl"),
        (["{file}", "--game", "7"], "numbered 0 to 1; no 7"),
        (["{file}", "--judge", "nobody"], "unknown agent"),
        (["{file}", "--judge", "random"], "does not tell chances"),
        (["{file}", "--policy", "nobody"], "unknown agent"),
        (["{file}", "--out", "/no/such/folder/page.html"], "folder"),
        (["{file}", "--out", "{file}"], "file of games itself"),
        (["{file}", "--out", "page.txt"], "must end in .html or .gif or .png"),
        (["{file}", "--out", "page.GIF"], "must end in .html or .gif or .png"),
        (["{file}", "--text", "--out", "page.html"], "no --out"),
        (["{file}", "--out", ""], "path of a file"),
        (["12.5.0.0/40.3.0.0 0 3", "--game", "0"], "--game is for files"),
        (["0.0.0.0/0.0.0.0 0 3"], "is no decision"),
        (["12.5.0.0/40.3.0.0 0 -"], "is no decision"),
        (["12.5.0.0/40.3.0.0 0"], "position text must be"),
        (["12.5.0.0/40.3.0.0 0 x"], "position text must be"),
        (["5.5.0.0/0.0.0.0 0 6"], "2 pawns on progress 5"),
        (["5.4.3.2.1/0.0.0.0.0 0 6"], "no position"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(file, arguments, complaint, capsys, monkeypatch):
    monkeypatch.chdir(file.parent)
    before = file.read_bytes()
    given = [argument.format(file=file) for argument in arguments]
    assert main(["replay", *given, "--no-open"]) == 2
    error = capsys.readouterr().err
    assert re.search(complaint, error)
    assert error.count("\n") == 1
    assert [(path.name, path.read_bytes()) for path in file.parent.iterdir()] == [
        (file.name, before)
    ]


def test_a_game_that_does_not_follow_the_rules_is_not_shown(file, capsys):
    lines = file.read_text().splitlines()
    game = json.loads(lines[1])
    game["actions"] = "3" + game["actions"][1:]
    file.write_text("\n".join([lines[0], json.dumps(game), ""]))
    assert main(["replay", str(file), "--no-open"]) == 2
    assert "decision 1" in capsys.readouterr().err


def test_what_the_arena_and_training_write_can_be_looked_at(tmp_path):
    path = tmp_path / "games.jsonl"
    arena.play(["careful", "first"], games=2, rules=TWO, seed=1, file=path)
    assert main(["replay", str(path), "--no-open", "--game", "1"]) == 0
