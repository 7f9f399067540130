"""Games that people play: against agents, with moves taken back, in the terminal."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kinds import RULES_OF_PLAY

from ludo_env import Game, IllegalMoveError, Records, Rules, make_agent
from ludo_env.agents.base import ask
from ludo_env.cli import main
from ludo_env.play.hints import advice
from ludo_env.play.sitting import HUMAN, AgentFailedError, Sitting
from ludo_env.play.terminal import Terminal
from ludo_env.render.text import board_text

TWO = Rules(num_players=2)


def play_out(sitting: Sitting) -> None:
    while not sitting.is_over:
        if sitting.is_humans_turn:
            sitting.play(sitting.game.legal_moves()[-1].action)
        else:
            sitting.play_agent()


def play_on(sitting: Sitting, decisions: int) -> None:
    """So many decisions of the person."""
    while decisions > 0 and not sitting.is_over:
        if sitting.is_humans_turn:
            sitting.play(sitting.game.legal_moves()[-1].action)
            decisions -= 1
        else:
            sitting.play_agent()


def at_a_choice(sitting: Sitting) -> Sitting:
    while not (sitting.is_humans_turn and len(sitting.game.legal_moves()) > 1):
        play_on(sitting, 1) if sitting.is_humans_turn else sitting.play_agent()
    return sitting


@pytest.mark.parametrize("rules", RULES_OF_PLAY[::4], ids=str)
def test_a_game_played_to_its_end_is_a_record_that_follows_the_rules(rules):
    seats = [HUMAN, "advance", "random", "careful"][: rules.num_players]
    sitting = Sitting(seats, rules, seed=4)
    play_out(sitting)
    record = sitting.record()
    replay = record.replay()
    assert replay.end == sitting.game.position
    assert record.places == sitting.game.places()
    assert record.agents == tuple(seats)
    told = [*replay.opening, *(event for step in replay.steps for event in step.events)]
    assert told == sitting.history


def test_agents_decide_as_they_do_anywhere():
    sitting = Sitting(["td", "random"], TWO, seed=9)
    game, agents = Game(TWO, seed=9), [make_agent("td", seed=0), make_agent("random", seed=1)]
    for _ in range(60):
        assert game.player is not None
        action = ask(agents[game.player], game.as_batch().blind(), np.zeros(1, dtype=np.int64))
        game.play(int(action[0]))
        sitting.play_agent()
        assert sitting.game.position == game.position


def test_agents_do_not_see_the_coming_dice():
    class Peeker:
        def act(self, batch, rows):
            self.seeds = batch.seeds
            return batch.masks(rows).argmax(axis=1)

    peeker = Peeker()
    sitting = Sitting([peeker, HUMAN], TWO, seed=9)
    while sitting.is_humans_turn:
        sitting.play(sitting.game.legal_moves()[0].action)
    sitting.play_agent()
    assert peeker.seeds.tolist() != [9]


def test_an_undo_goes_back_to_the_last_choice_of_a_person_with_the_same_dice_to_come():
    sitting = Sitting([HUMAN, "advance", "random"], Rules(num_players=3), seed=2)
    play_on(sitting, 12)
    at_a_choice(sitting)
    before, told = sitting.game.position, list(sitting.history)
    sitting.play(sitting.game.legal_moves()[0].action)
    after = sitting.game.position
    while not sitting.is_humans_turn:
        sitting.play_agent()
    sitting.undo()
    assert (sitting.game.position, sitting.history) == (before, told)
    sitting.play(sitting.game.legal_moves()[0].action)
    assert sitting.game.position == after


def test_an_undo_passes_over_decisions_that_were_none():
    sitting = Sitting([HUMAN, "first"], TWO, seed=2)
    before = at_a_choice(sitting).game.position
    is_forced = False
    while not is_forced:
        if sitting.is_humans_turn:
            is_forced = len(sitting.game.legal_moves()) == 1
            before = before if is_forced else sitting.game.position
        play_on(sitting, 1) if sitting.is_humans_turn else sitting.play_agent()
    sitting.undo()
    assert sitting.game.position == before


def test_undoing_everything_leads_to_the_first_choice_and_no_further():
    sitting = Sitting([HUMAN, "first"], TWO, seed=2)
    first = at_a_choice(sitting).game.position
    play_on(sitting, 15)
    count = 0
    while sitting.can_undo:
        sitting.undo()
        count += 1
    assert count > 3
    assert sitting.game.position == first
    with pytest.raises(ValueError, match="take back"):
        sitting.undo()
    assert sitting.game.position == first


def test_a_finished_game_can_be_taken_back_from():
    sitting = Sitting([HUMAN, "random"], TWO, seed=2)
    play_out(sitting)
    sitting.undo()
    assert sitting.is_humans_turn


def test_what_cannot_be_played_changes_nothing():
    sitting = Sitting([HUMAN, "advance"], TWO, seed=5)
    before = sitting.game.position
    for wrong in (3, -1, 4):
        with pytest.raises(IllegalMoveError):
            sitting.play(wrong)
    with pytest.raises(ValueError, match="no agent's turn"):
        sitting.play_agent()
    assert sitting.game.position == before
    assert sitting.last_move is None


class Raises:
    def act(self, batch, rows):
        raise ZeroDivisionError("no idea")


class Illegal:
    def act(self, batch, rows):
        return 3 - batch.masks(rows)[:, ::-1].argmin(axis=1)


@pytest.mark.parametrize("agent", [Raises(), Illegal()], ids=["raises", "plays what is illegal"])
def test_an_agent_that_fails_is_named_and_nothing_is_played(agent):
    sitting = Sitting([agent, agent], TWO, seed=5)
    before = sitting.game.position
    with pytest.raises(AgentFailedError, match="failed"):
        sitting.play_agent()
    assert sitting.game.position == before


def test_there_is_one_seat_for_each_player():
    with pytest.raises(ValueError, match="3"):
        Sitting([HUMAN, "td"], Rules(num_players=3))
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        Sitting([HUMAN, "nobody"], TWO)


@pytest.mark.parametrize(
    ("spec", "means", "told"),
    [("td", "chance to win", True), ("random", "probability", False)],
)
def test_hints_are_what_the_agent_thinks_of_each_legal_move(spec, means, told):
    sitting = at_a_choice(Sitting([HUMAN, "advance"], TWO, seed=3))
    found = advice(spec, sitting.game)
    moves = sitting.game.legal_moves()
    assert [hint.action for hint in found.hints] == [move.action for move in moves]
    assert sum(hint.would_play for hint in found.hints) == 1
    assert found.means == means
    assert all((hint.share is not None) == told for hint in found.hints)
    if told:
        best = max(found.hints, key=lambda hint: hint.share)
        assert best.would_play


# In the terminal


def typed(sitting: Sitting, *lines: str, **arguments) -> str:
    """All that a terminal shows while these lines are typed; then the user leaves."""
    left, shown = list(lines), []

    def read(prompt: str) -> str:
        if not left:
            raise EOFError
        shown.append(prompt + left[0])
        return left.pop(0)

    Terminal(sitting, read, shown.append, board_text, "td", **arguments).run()
    return "\n".join(shown)


def test_a_number_plays_its_move_and_the_terminal_tells_what_follows():
    sitting = at_a_choice(Sitting([HUMAN, "advance"], TWO, seed=3))
    moves, die = sitting.game.legal_moves(), sitting.game.die
    before = len(sitting.record().actions)
    shown = typed(sitting, "2")
    assert f"2  {die} " in shown
    assert f"human (0) moves from {moves[1].source or 'yard'} to {moves[1].target}." in shown
    assert sitting.record().actions[before] == str(moves[1].action)


@pytest.mark.parametrize("line", ["", "0", "9", "x", "1 2", "u now", "-1", "½", "١", "s"])
def test_a_line_that_means_nothing_is_said_to_and_changes_nothing(line):
    sitting = at_a_choice(Sitting([HUMAN, "advance"], TWO, seed=3))
    before = sitting.record()
    shown = typed(sitting, line)
    assert re.search("nothing to play: a number from 1 to|needs a file's name", shown)
    assert sitting.record() == before


def test_enter_plays_the_only_move():
    sitting = Sitting([HUMAN, "advance"], TWO, seed=5)
    assert len(sitting.game.legal_moves()) == 1
    typed(sitting, "")
    assert sitting.record().actions != ""


def test_the_only_move_plays_itself_where_that_is_asked_for():
    sitting = Sitting([HUMAN, "advance"], TWO, seed=5)
    typed(sitting, auto_forced=True)
    assert sitting.is_humans_turn
    assert len(sitting.game.legal_moves()) > 1


def test_moves_can_be_taken_back_and_hints_asked_for():
    sitting = at_a_choice(Sitting([HUMAN, "advance"], TWO, seed=3))
    before = sitting.record()
    shown = typed(sitting, "h", "h careful", "1", "u")
    assert "td thinks:" in shown
    assert "chance to win" in shown
    assert "careful thinks:" in shown
    assert "would play" in shown
    assert "taken back" in shown
    assert sitting.record() == before


@pytest.mark.parametrize(
    "line",
    [
        "h nobody",
        "h sb3:nowhere",
        "s /no/such/folder/game.jsonl",
        f"s {'a' * 300}",
        f"s {'é' * 150}",
        "s loop",
        "s .",
    ],
)
def test_what_fails_in_the_terminal_is_one_line_and_the_game_goes_on(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("pool")
    Path("pool").symlink_to("loop")
    sitting = Sitting([HUMAN, "advance"], TWO, seed=3)
    shown = typed(sitting, line, "b")
    assert re.search(
        "nobody|nowhere|folder|bytes|path|regular", shown.split(f"> {line}\n")[1].split("\n")[0]
    )
    assert shown.count("player 0 to play") == 2


def test_the_record_is_saved_and_only_the_games_own_file_written_again(tmp_path):
    sitting = Sitting([HUMAN, "advance"], TWO, seed=3)
    own, other = tmp_path / "own.jsonl", tmp_path / "other.jsonl"
    other.write_text("mine")
    shown = typed(sitting, f"s {own}", "1", f"s {own}", f"s {other}")
    assert shown.count("saved: ") == 2
    assert "there already" in shown
    assert other.read_text() == "mine"
    assert Records(own)[0] == sitting.record()


def test_a_kept_record_is_on_disk_after_every_move(tmp_path):
    path = tmp_path / "game.jsonl"
    sitting, found = Sitting([HUMAN, "advance"], TWO, seed=3), []

    def read(prompt: str) -> str:
        found.append(Records(path)[0] == sitting.record())
        if len(found) == 10:
            raise EOFError
        return "u" if len(found) == 8 else "1"

    Terminal(sitting, read, lambda _: None, board_text, "td", kept=str(path)).run()
    assert found == [True] * 10


def test_a_record_that_cannot_be_kept_any_more_is_said_and_the_game_goes_on(tmp_path):
    folder = tmp_path / "away"
    folder.mkdir()
    sitting, shown, left = Sitting([HUMAN, "advance"], TWO, seed=3), [], ["1"] * 30
    terminal = Terminal(
        sitting,
        lambda _: left.pop(),
        shown.append,
        board_text,
        "td",
        kept=str(folder / "game.jsonl"),
    )
    shutil.rmtree(folder)
    with pytest.raises(IndexError):  # all lines are read
        terminal.run()
    assert any("away" in line and "cannot be written" in line for line in shown)
    assert len(sitting.record().actions) > 30


def test_a_whole_game_ends_with_its_places():
    sitting = Sitting([HUMAN, "advance"], TWO, seed=3)
    shown = typed(sitting, *["1"] * 400, auto_forced=True)
    assert sitting.is_over
    assert re.search(r"has won\n(.*\n)+\nplaces: 1 \w+ \(\d\), 2 \w+ \(\d\)$", shown)


# The command


def answering(monkeypatch, *lines: str) -> None:
    left = list(lines)

    def answer(prompt: str = "") -> str:
        if not left:
            raise EOFError
        return left.pop(0)

    monkeypatch.setattr("builtins.input", answer)


def test_the_command_seats_people_and_agents(monkeypatch, capsys, tmp_path):
    answering(monkeypatch)
    for arguments, seats in (
        ([], ["human", "td"]),
        (["--against", "td,careful"], ["human", "td", "careful"]),
        (["--against", "td", "careful", "--seat", "1"], ["careful", "human", "td"]),
        (["--against", "random", "--players", "4"], ["human", "random", "random", "random"]),
        (["--against", "human"], ["human", "human"]),
    ):
        target = tmp_path / f"{len(seats)}{'-'.join(seats)}.jsonl"
        assert main(["play", *arguments, "--seed", "1", "--save", str(target)]) == 0
        assert list(Records(target)[0].agents) == seats
    assert "player 0 to play" in capsys.readouterr().out


def test_the_rules_and_the_beginning_can_be_chosen(monkeypatch, capsys, tmp_path):
    answering(monkeypatch, "1", "q")
    target = tmp_path / "game.jsonl"
    flags = ["--pawns", "2", "--home-jumps", "--no-mandatory-capture", "--position", "5.0/7.0 0 3"]
    assert main(["play", *flags, "--save", str(target)]) == 0
    record = Records(target)[0]
    assert record.rules == Rules(2, 2, mandatory_capture=False, home_jumps=True)
    assert record.position == "5.0/7.0 0 3"
    assert "human (0) moves from 5 to 8." in capsys.readouterr().out


def test_an_interrupted_game_is_saved(monkeypatch, capsys, tmp_path):
    def interrupt(prompt: str = "") -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    target = tmp_path / "game.jsonl"
    assert main(["play", "--seed", "1", "--save", str(target)]) == 1
    assert "interrupted" in capsys.readouterr().err
    assert Records(target)[0].seed == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--against", "nobody"], "unknown agent 'nobody'"),
        (["--against", "td", "td", "--players", "4"], "1 or 3 agents, got 2"),
        (["--against", "td", "td", "td", "td"], "players"),
        (["--players", "5"], "players"),
        (["--seat", "2"], "--seat must be from 0 to 1"),
        (["--hints", "nobody"], "unknown agent 'nobody'"),
        (["--seed", "-1"], "seed"),
        (["--position", "nonsense"], "nonsense"),
        (["--save", "/no/such/folder/game.jsonl"], "folder"),
        (["--web", "--port", "70000"], "--port"),
        (["--save", ""], "path of a file"),
        (["--web", "--save", "game.jsonl"], "--save is for the terminal"),
        (["--web", "--auto-forced"], "--auto-forced is for the terminal"),
        (["--against", ","], "--against takes 1 agent or one for each"),
    ],
)
def test_wrong_arguments_are_said_in_one_line(arguments, complaint, capsys):
    assert main(["play", *arguments]) == 2
    error = capsys.readouterr().err
    assert re.search(complaint, error)
    assert error.count("\n") == 1


def test_a_file_that_is_there_is_not_written_over(tmp_path, capsys):
    target = tmp_path / "game.jsonl"
    target.write_text("mine")
    assert main(["play", "--save", str(target)]) == 2
    assert "there already" in capsys.readouterr().err
    assert target.read_text() == "mine"


def test_typed_into_a_pipe_the_board_has_no_colours(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "ludo_env.cli", "play", "--seed", "1"],
        input="q\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
