"""The page to play on, in a real browser, by clicks and keys."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from browsing import chromium, page_of, pawns_on, until
from werkzeug.serving import make_server

from ludo_env import Records, Rules
from ludo_env.play.sitting import HUMAN, Sitting
from ludo_env.render.drawing import place_of
from ludo_env.web.room import Room
from ludo_env.web.server import HOST, make_app

TWO = Rules(num_players=2)


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


class Served:
    """A room that is served."""

    def __init__(self, *seats: object, rules: Rules = TWO, seed: int = 5):
        self.room = Room(Sitting(seats, rules, seed=seed), "td")
        self._server = make_server(HOST, 0, lambda *_: [], threaded=True)
        self._server.app = make_app(self.room, self._server.port)
        self.address = f"http://{HOST}:{self._server.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Served:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def against_advance() -> Iterator[Served]:
    with Served(HUMAN, "advance") as served:
        yield served


def open_game(page, served: Served, pause: str = "0") -> None:
    """Open the page, with agents that do not pause, and a user who never clicks twice."""
    page.goto(served.address)
    page.wait_for_selector("#board")
    page.evaluate("pickRest = 0")
    page.locator("#pause").fill(pause)
    page.locator("#pause").blur()


def expected_pawns(served: Served) -> list[tuple[float, float]]:
    state = served.room.state()
    rules = Rules(**state["rules"])
    return sorted(
        (round(x, 2), round(y, 2))
        for player, own in enumerate(state["pawns"])
        for rank, progress in enumerate(own)
        for x, y in [place_of(player, progress, rules.num_pawns - 1 - rank, rules)]
    )


def wait_for_a_turn(page, served: Served) -> str:
    """Until a person is to decide on the page or the game is over; whose turn it is."""
    for _ in range(4000):
        state = served.room.state()
        if state["turn"] == "over":
            page.wait_for_selector("#moves li:has-text('place 1')")
            return "over"
        if state["turn"] == "human" and page.evaluate("state.version") == state["version"]:
            return "human"
        page.wait_for_timeout(5)
    raise AssertionError("the page does not go on")


def play_out(page, served: Served, decisions: int | None = None) -> None:
    """Click pawns, so many times or to the end."""
    while decisions != 0 and wait_for_a_turn(page, served) == "human":
        version = served.room.state()["version"]
        page.locator("#board .spot").last.click()
        until(page, f"state.version > {version}")
        decisions = None if decisions is None else decisions - 1


def test_a_whole_game_is_played_by_clicks_with_a_reload_and_downloads_a_valid_record(
    browser, against_advance, tmp_path
):
    with page_of(browser, reduced_motion="reduce", accept_downloads=True) as page:
        open_game(page, against_advance)
        play_out(page, against_advance, 20)
        wait_for_a_turn(page, against_advance)
        before = against_advance.room.record()
        page.reload()
        page.wait_for_selector("#board .spot")
        page.evaluate("pickRest = 0")
        assert against_advance.room.record() == before
        assert pawns_on(page) == expected_pawns(against_advance)
        play_out(page, against_advance)
        assert pawns_on(page) == expected_pawns(against_advance)
        winner = against_advance.room.state()["winner"]
        assert f"({winner}) has won" in page.locator("#turn-title").inner_text()
        with page.expect_download() as download:
            page.click("#record")
        download.value.save_as(tmp_path / "game.jsonl")
    record = Records(tmp_path / "game.jsonl")[0]
    assert record.actions.startswith(before.actions)
    assert 1 in record.places
    assert record == against_advance.room.record()


def test_a_game_is_played_by_keys_alone(browser, against_advance):
    room = against_advance.room
    with page_of(browser, reduced_motion="reduce") as page:
        open_game(page, against_advance)
        keys = ["1"]  # then the next move has the focus
        while not (room.state()["can_undo"] and room.state()["turn"] == "human"):
            wait_for_a_turn(page, against_advance)
            version = room.state()["version"]
            page.keyboard.press(keys[-1])
            until(page, f"state.version > {version}")
            keys.append(" " if keys[-1] == "Enter" else "Enter")
        wait_for_a_turn(page, against_advance)
        count = len(room.record().actions)
        page.keyboard.press("u")
        page.wait_for_timeout(300)
        assert len(room.record().actions) < count


def test_where_the_user_types_the_keyboard_stays(browser):
    with Served("advance", HUMAN) as served, page_of(browser) as page:
        open_game(page, served, pause="0.5")
        page.evaluate("isMoveWanted = true")  # as after a move by key
        page.click("#new summary")
        page.locator("#seed").focus()
        wait_for_a_turn(page, served)
        version = served.room.state()["version"]
        page.keyboard.type("1111")
        page.wait_for_timeout(300)
        assert page.locator("#seed").input_value() == "1111"
        assert served.room.state()["version"] == version


def test_a_double_click_and_a_key_held_down_play_one_move(browser, against_advance):
    with page_of(browser, reduced_motion="reduce") as page:
        open_game(page, against_advance)
        page.evaluate("pickRest = 300")
        assert len(against_advance.room.record().actions) == 0  # a six: one's own turn goes on
        page.locator("#moves button").first.dblclick()
        page.wait_for_timeout(200)
        assert len(against_advance.room.record().actions) == 1
        page.wait_for_timeout(300)
        wait_for_a_turn(page, against_advance)
        count = len(against_advance.room.record().actions)
        page.keyboard.down("1")
        for _ in range(5):
            page.wait_for_timeout(100)
            page.keyboard.down("1")  # repeats
        mine = [step.position.player for step in against_advance.room.record().replay().steps]
        assert mine[count:].count(0) == 1


def test_a_second_click_plays_nothing_though_the_first_is_answered(browser, against_advance):
    with page_of(browser) as page:
        open_game(page, against_advance)
        page.evaluate("pickRest = 60000")
        version = page.evaluate("pick(0); state.version")
        until(page, f"state.version > {version} && !isBusy")
        assert page.evaluate("state.turn") == "human"
        page.evaluate("pick(0)")
        page.wait_for_timeout(200)
        assert len(against_advance.room.record().actions) == 1


def test_agents_take_as_long_as_they_are_told_to(browser):
    with Served("advance", HUMAN) as served, page_of(browser) as page:
        open_game(page, served, pause="2.5")  # longer than between two looks at the server
        version = served.room.state()["version"]
        page.wait_for_timeout(1500)
        assert served.room.state()["version"] == version
        until(page, f"state.version > {version}")


def test_a_page_without_a_memory_plays(browser, against_advance):
    forgetful = (
        "Object.defineProperty(window, 'localStorage', { get() { throw Error('blocked'); } })"
    )
    with page_of(browser) as page:
        page.add_init_script(forgetful)
        open_game(page, against_advance)
        play_out(page, against_advance, 1)


def test_a_memory_that_holds_something_else_is_passed_over(browser, against_advance):
    with page_of(browser) as page:
        page.add_init_script("localStorage.setItem('pause', '{'); localStorage.setItem('auto', '')")
        open_game(page, against_advance)
        play_out(page, against_advance, 1)


def test_a_server_that_is_gone_is_told_and_the_game_goes_on_once_it_is_back(
    browser, against_advance
):
    with browser.new_context() as context:  # it logs what fails
        page = context.new_page()
        open_game(page, against_advance)
        context.set_offline(True)
        page.locator("#moves button").first.click()
        page.wait_for_selector("#error:has-text('does not answer')")
        context.set_offline(False)
        until(page, "document.getElementById('error').textContent === ''")
        play_out(page, against_advance, 2)


def test_an_agent_that_fails_is_told_and_not_asked_again(browser):
    asked = []

    class Fails:
        def act(self, batch, rows):
            asked.append(len(rows))
            raise ZeroDivisionError("no idea")

    with Served(Fails(), HUMAN) as served, browser.new_context() as context:
        page = context.new_page()
        open_game(page, served)
        page.wait_for_selector("#error:has-text('failed: ZeroDivisionError')")
        page.locator("#pause").fill("0.5")  # agents are timed anew
        page.wait_for_timeout(4500)  # some looks at the server
        assert len(asked) == 1


def test_who_plays_with_which_pawns_and_whose_turn_it_is_can_be_seen(browser, against_advance):
    with page_of(browser) as page:
        open_game(page, against_advance)
        players = page.locator("#players-list li")
        assert players.all_inner_texts() == ["human (0)", "advance (1)"]
        assert players.nth(1).locator("use").get_attribute("href") == "#pawn1"
        assert players.nth(0).get_attribute("aria-current") == "true"


def test_the_pawns_that_may_move_are_named_for_who_cannot_see_them(browser, against_advance):
    with page_of(browser) as page:
        open_game(page, against_advance)
        assert page.get_by_role("button", name="6 yard-1").count() == 2  # the pawn and the list
        assert page.locator("#board").get_attribute("role") == "group"  # an image hides its parts
        assert page.locator("#told").get_attribute("aria-live") == "polite"
        assert "human (0) rolls 6." in page.get_by_role("status").inner_text()
        title = page.locator("#board title").text_content()
        assert title.startswith("player 0 plays a 6; player 0: yard, yard, yard, yard")


def test_a_hint_stands_at_the_pawn_and_in_the_list(browser, against_advance):
    with page_of(browser) as page:
        open_game(page, against_advance)
        page.keyboard.press("h")
        page.wait_for_selector("#moves button:has-text('td would play this')")
        assert "chance to win" in page.locator("#moves").inner_text()
        assert re.fullmatch(r"\d+%", page.locator("#board .marks text").text_content())


def test_another_game_begins_with_what_the_form_says(browser, against_advance):
    with page_of(browser) as page:
        open_game(page, against_advance, pause="3")
        page.click("#new summary")
        page.select_option("#players", "3")
        page.select_option("#pawns", "2")
        page.locator("#seats select").nth(0).select_option("random")
        page.locator("#seats select").nth(2).select_option("human")
        page.check("#home_jumps")
        page.fill("#seed", "7")
        page.click("#form button")
        until(page, "state.seats.length === 3")
        state = against_advance.room.state()
        assert state["seats"] == ("random", "advance", "human")
        assert state["rules"]["home_jumps"]
        assert (state["rules"]["num_pawns"], state["seed"]) == (2, "7")
        assert pawns_on(page) == expected_pawns(against_advance)


def test_games_of_agents_alone_play_themselves(browser):
    with Served("random", "advance", rules=Rules(2, 1)) as served, page_of(browser) as page:
        open_game(page, served)
        page.wait_for_selector("#moves li:has-text('place 1')", timeout=60_000)
        assert served.room.state()["turn"] == "over"


def test_the_only_move_plays_itself_where_that_is_chosen(browser, against_advance):
    with page_of(browser) as page:
        open_game(page, against_advance)
        version = against_advance.room.state()["version"]
        page.check("#auto")
        until(page, f"state.version > {version}")


def test_two_tabs_play_one_game(browser, against_advance):
    with page_of(browser) as page, page_of(browser) as other:
        for tab in (page, other):
            open_game(tab, against_advance)
        for tab in (page, other, page, other):
            play_out(tab, against_advance, 1)
        wait_for_a_turn(page, against_advance)
        wait_for_a_turn(other, against_advance)
        assert pawns_on(page) == pawns_on(other) == expected_pawns(against_advance)
    against_advance.room.record().replay()


def test_a_click_on_what_is_long_gone_says_so_and_changes_nothing(browser, against_advance):
    with browser.new_context() as context:  # it logs the refusal
        page = context.new_page()
        open_game(page, against_advance)
        state = against_advance.room.state()
        after = against_advance.room.play(state["version"], 0)
        page.evaluate("pick(0)")  # before the page looks again
        until(page, f"state.version >= {after['version']}")
        assert "another tab" in page.get_by_role("alert").inner_text()
    assert against_advance.room.record().actions.startswith("0")


def test_pages_of_other_sites_cannot_play(browser, against_advance):
    with browser.new_context() as context:
        page = context.new_page()
        page.route("http://evil.example/", lambda route: route.fulfill(body="<p>hello"))
        page.goto("http://evil.example/")
        before = against_advance.room.state()
        refused = page.evaluate(
            """async (address) => {
                const sent = { method: "POST", mode: "no-cors", body: "{}" };
                await fetch(address + "undo", sent).catch(() => null);
                return fetch(address + "state").then(() => false, () => true);
            }""",
            against_advance.address,
        )
        assert refused
        assert against_advance.room.state() == before


@pytest.mark.parametrize("width", [320, 380, 1280])
def test_the_page_is_as_wide_as_the_screen_and_no_wider(browser, against_advance, width):
    with page_of(browser, viewport={"width": width, "height": 800}) as page:
        open_game(page, against_advance)
        page.click("#new summary")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("#board").bounding_box()
        assert box["width"] == pytest.approx(box["height"], abs=1)
        assert box["width"] >= min(width, 600) * 0.85
