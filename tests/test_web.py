"""The page to play on, as its server sees it: who is heeded, and what changes the game."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ludo_env import Records, Rules
from ludo_env.cli import main
from ludo_env.play.sitting import HUMAN, Sitting
from ludo_env.web.room import AGENTS, Room
from ludo_env.web.server import make_app

PORT = 5001
HOST = f"127.0.0.1:{PORT}"
TWO = Rules(num_players=2)


def room_of(*seats: object, rules: Rules = TWO, seed: int = 5) -> Room:
    return Room(Sitting(seats, rules, seed=seed), "td")


class Page:
    """Talks to the server as a page does."""

    def __init__(self, room: Room):
        self.room = room
        self.client = make_app(room, PORT).test_client()

    def get(self, path, **headers):
        return self.client.get(path, base_url=f"http://{HOST}", headers=headers)

    def post(self, path, message, **headers):
        text = message if isinstance(message, str | bytes) else json.dumps(message)
        headers = {"Content-Type": "application/json", **headers}
        return self.client.post(path, data=text, base_url=f"http://{HOST}", headers=headers)

    def state(self):
        return self.get("/state").json

    def play(self, action=None):
        state = self.state()
        action = state["legal"][0]["action"] if action is None else action
        said = {"version": state["version"], "game": state["game"], "action": action}
        return self.post("/play", said)

    def play_agent(self):
        state = self.state()
        return self.post("/agent", {"version": state["version"], "game": state["game"]})


@pytest.fixture
def page():
    return Page(room_of(HUMAN, "advance"))


def new(page, **changes):
    state = page.state()
    said = {
        "version": state["version"],
        "game": state["game"],
        "seats": [HUMAN, "td"],
        "rules": {},
        "seed": "",
    }
    return page.post("/new", said | changes)


def test_a_game_goes_to_its_end_and_its_record_follows_the_rules(page, tmp_path):
    while (turn := page.state()["turn"]) != "over":
        answer = page.play() if turn == "human" else page.play_agent()
        assert answer.status_code == 200
    state = page.state()
    download = page.get("/record")
    assert "attachment" in download.headers["Content-Disposition"]
    (tmp_path / "game.jsonl").write_bytes(download.data)
    record = Records(tmp_path / "game.jsonl")[0]
    assert list(record.places) == state["places"]
    assert [list(own) for own in record.replay().end.pawns] == state["pawns"]
    assert state["legal"] == []


def test_a_state_tells_all_that_is_shown(page):
    state = page.state()
    assert state["turn"] == "human"
    assert state["die"] == 6
    assert state["legal"] == [{"action": 0, "source": 0, "target": 1, "name": "6 yard-1"}]
    assert state["told"] == ["human (0) rolls 4. human (0) rolls 6."]
    assert state["last"] is None
    assert not state["can_undo"]
    after = page.play().json
    assert after["last"] == {"player": 0, "source": 0, "target": 1, "captured": False}
    assert after["version"] > state["version"]


def test_the_board_comes_with_a_game_that_the_page_does_not_know(page):
    state = page.state()
    assert state["board"]["markup"].startswith("<svg")
    assert "board" not in page.get(f"/state?game={state['game']}").json
    assert "board" not in page.play().json
    assert "board" in new(page).json


def test_what_was_played_in_another_tab_is_shown_instead_of_played_over(page):
    other = Page(page.room)
    seen = other.state()
    assert page.play().status_code == 200
    now = page.state()
    for path, more in (
        ("/play", {"action": 0}),
        ("/agent", {}),
        ("/undo", {}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}, "seed": "1"}),
    ):
        answer = other.post(path, {"version": seen["version"], "game": seen["game"], **more})
        assert answer.status_code == 409
        assert answer.json["state"]["version"] == now["version"]
    assert page.state() == now


def test_of_many_tabs_that_play_at_once_one_plays(page):
    state = page.state()
    said = {"version": state["version"], "game": state["game"], "action": 0}
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: Page(page.room).post("/play", said).status_code, range(16)))
    assert sorted(codes) == [200] + [409] * 15
    assert page.room.record().actions == "0"


def test_a_page_of_an_earlier_server_is_told_how_the_game_stands(page):
    seen = page.state()
    later = Page(room_of(HUMAN, "advance"))
    assert later.state()["version"] > seen["version"]


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("/play", {"action": 3}),
        ("/play", {"action": 9}),
        ("/play", {"action": -1}),
        ("/play", {"action": 10**30}),
        ("/play", {"action": "0"}),
        ("/play", {"action": None}),
        ("/play", {"action": True}),
        ("/play", {"action": 0.0}),
        ("/play", {"more": 1, "action": 0}),
        ("/play", {}),
        ("/play", {"action": 0, "version": "1"}),
        ("/agent", {}),
        ("/undo", {}),
        ("/hint", {"agent": "nobody"}),
        ("/hint", {"agent": "sb3:somewhere"}),
        ("/new", {"seats": [HUMAN], "rules": {}, "seed": ""}),
        ("/new", {"seats": [HUMAN] * 5, "rules": {}, "seed": ""}),
        ("/new", {"seats": [HUMAN, "exact:/etc/passwd"], "rules": {}, "seed": ""}),
        ("/new", {"seats": [HUMAN, "test_play:Raises"], "rules": {}, "seed": ""}),
        ("/new", {"seats": [HUMAN, 3], "rules": {}, "seed": ""}),
        ("/new", {"seats": [HUMAN, ["td"]], "rules": {}, "seed": ""}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {"num_pawns": 5}, "seed": ""}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {"num_players": 3}, "seed": ""}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {"home_jumps": "yes"}, "seed": ""}),
        ("/new", {"seats": [HUMAN, "td"], "rules": [], "seed": ""}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}, "seed": "-1"}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}, "seed": "1e3"}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}, "seed": "٣"}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}, "seed": 5}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}, "seed": f"{2**63}"}),
        ("/new", {"seats": [HUMAN, "td"], "rules": {}}),
    ],
)
def test_a_bad_message_gets_an_error_and_changes_nothing(page, path, changes):
    before = page.state()
    said = {"version": before["version"], **({} if path == "/hint" else {"game": before["game"]})}
    answer = page.post(path, said | changes)
    assert answer.status_code == 400
    assert answer.json["error"]
    assert page.state() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "null", b"\xff", "[" * 3000])
def test_what_is_no_message_gets_an_error(page, text):
    before = page.state()
    answer = page.post("/play", text)
    assert answer.status_code == 400
    assert answer.json["error"]
    assert page.state() == before


def test_a_message_that_is_too_long_or_no_json_is_refused(page):
    assert page.post("/play", " " * 20_000).status_code == 413
    assert page.post("/play", "{}", **{"Content-Type": "text/plain"}).status_code == 415
    assert page.get("/play").status_code == 405
    assert page.get("/assets/../server.py").status_code == 404
    assert page.get("/assets/replay.html").status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", f"evil.example:{PORT}", "", HOST + "0"]
)
def test_other_hosts_are_refused(page, host):
    for path in ("/", "/state", "/record", "/assets/play.js"):
        assert page.get(path, Host=host).status_code == 403
    assert page.post("/undo", {}, Host=host).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:1"]
)
def test_other_origins_are_refused(page, origin):
    before = page.state()
    said = {"version": before["version"], "game": before["game"], "action": 0}
    for answer in (page.post("/play", said, Origin=origin), page.get("/state", Origin=origin)):
        assert answer.status_code == 403
        assert answer.json["error"]
    assert page.state() == before


def test_the_pages_own_origin_is_heeded_by_either_name(page):
    for host in (HOST, f"localhost:{PORT}"):
        answer = page.get("/state", Host=host, Origin=f"http://{host}")
        assert answer.status_code == 200


def test_what_another_site_embeds_is_refused_and_a_link_is_followed(page):
    site = {"Sec-Fetch-Site": "cross-site"}
    assert page.get("/state", **site, **{"Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert page.get("/", **site, **{"Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert page.post("/undo", {}, **site, **{"Sec-Fetch-Mode": "navigate"}).status_code == 403


def test_nothing_from_elsewhere_is_loaded_and_no_other_page_may_frame_it(page):
    for path in ("/", "/state", "/replay", "/no/such/page"):
        answer = page.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_another_game_has_the_seats_rules_and_dice_that_were_asked_for(page):
    rules = {"num_pawns": 2, "home_jumps": True, "mandatory_capture": False}
    state = new(page, seats=["random", HUMAN, "td:2"], rules=rules, seed="12").json
    assert state["seats"] == ["random", HUMAN, "td:2"]
    assert state["rules"] == {"num_players": 3, "pawn_on_start": False, **rules}
    assert state["seed"] == "12"
    assert state["turn"] == "agent"


def test_every_agent_that_a_page_may_seat_plays():
    for spec in AGENTS:
        page = Page(room_of(spec, spec))
        for _ in range(3):
            assert page.play_agent().status_code == 200


def test_a_spec_of_the_commands_own_may_be_seated_again():
    room = room_of(HUMAN, "test_play:Raises")
    assert "test_play:Raises" in room.agents
    assert new(Page(room), seats=["test_play:Raises", HUMAN]).status_code == 200


def test_an_agent_that_fails_is_told_and_the_game_can_be_begun_anew():
    page = Page(room_of("test_play:Raises", HUMAN))
    before = page.state()
    answer = page.play_agent()
    assert answer.status_code == 500
    assert "test_play:Raises (0) failed: ZeroDivisionError" in answer.json["error"]
    assert page.state() == before
    assert new(page).status_code == 200


def test_a_choice_is_taken_back():
    sitting = Sitting([HUMAN, "td"], TWO, seed=5, position="30.12.0.0/20.3.0.0 0 4")
    page = Page(Room(sitting, "td"))
    before = page.state()
    state = page.play().json
    assert state["can_undo"]
    undone = page.post("/undo", {"version": state["version"], "game": state["game"]}).json
    assert undone["pawns"] == before["pawns"]
    assert undone["told"] == before["told"]
    assert undone["version"] > state["version"]


class Slow:
    """Answers when it is let."""

    def __init__(self):
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.count = 0

    def act(self, batch, rows):
        self.count += 1
        self.asked.set()
        assert self.may_answer.wait(10)
        return batch.masks(rows).argmax(axis=1)


def test_while_an_agent_thinks_the_game_can_be_looked_at_and_left():
    slow = Slow()
    page = Page(room_of(slow, HUMAN))
    before = page.state()
    with ThreadPoolExecutor(1) as pool:
        thought = pool.submit(Page(page.room).play_agent)
        assert slow.asked.wait(10)
        assert page.state() == before
        assert page.get("/record").status_code == 200
        begun = new(page)
        assert begun.status_code == 200
        slow.may_answer.set()
        assert thought.result().status_code == 409
    assert page.state()["version"] == begun.json["version"]


def test_a_thinking_agent_is_asked_once_however_many_tabs_ask():
    slow = Slow()
    page = Page(room_of(slow, HUMAN))
    with ThreadPoolExecutor(4) as pool:
        thoughts = [pool.submit(Page(page.room).play_agent) for _ in range(4)]
        assert slow.asked.wait(10)
        slow.may_answer.set()
        codes = [thought.result().status_code for thought in thoughts]
    assert codes.count(200) >= 1
    assert slow.count == codes.count(200)


def test_any_seed_is_shown_and_can_be_typed_in(page):
    for seed in (2**63 - 1, 0, 2953336491798196116):
        assert new(page, seed=f" {seed} ").json["seed"] == str(seed)
        assert page.room.record().seed == seed


def test_hints_tell_of_every_legal_move(page):
    version = page.state()["version"]
    hint = page.post("/hint", {"version": version, "agent": "td"}).json
    assert hint["agent"] == "td"
    assert hint["means"] == "chance to win"
    (move,) = hint["moves"]
    assert move["action"] == 0
    assert move["would_play"] is True
    assert 0 < move["share"] < 1


def test_the_game_so_far_can_be_looked_back_on(page):
    page.play()
    answer = page.get("/replay")
    assert answer.status_code == 200
    assert 'id="story"' in answer.text


def test_a_port_that_is_taken_is_said_in_one_line(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["play", "--web", "--no-open", "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert f"port {port}" in error
    assert error.count("\n") == 1


def test_without_flask_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "flask", None)
    monkeypatch.delitem(__import__("sys").modules, "ludo_env.web.server", raising=False)
    assert main(["play", "--web"]) == 2
    assert "ludo_env[web]" in capsys.readouterr().err
