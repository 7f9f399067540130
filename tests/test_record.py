"""Records: a game is told whole, comes back the same, and what breaks the rules is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from kinds import ALL_RULES

from ludo_env import Game, Rules, arena
from ludo_env.core.game import Roll
from ludo_env.core.record import Record, with_forfeits
from ludo_env.core.record_file import Records, write_records

TWO = Rules(num_players=2)


def random_game(rules: Rules, seed: int, **settings) -> tuple[Game, list[int], list[int]]:
    """A game played to its end, its actions and its dice."""
    generator = np.random.default_rng(seed)
    game = Game(rules, seed=seed, **settings)
    events, actions = list(game.opening_events), []
    while game.winner is None:
        actions.append(int(generator.choice(np.flatnonzero(game.action_mask()))))
        events += game.play(actions[-1])
    return game, actions, [event.die for event in events if isinstance(event, Roll)]


def names(rules: Rules) -> list[str]:
    return [f"agent {player}" for player in range(rules.num_players)]


@pytest.fixture(scope="module")
def record() -> Record:
    _, actions, _ = random_game(TWO, 5)
    return Record.of(actions, ["here", "there"], rules=TWO, seed=5)


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_a_record_holds_every_roll_every_move_and_the_result(rules):
    game, actions, dice = random_game(rules, 5)
    record = Record.of(actions, names(rules), rules=rules, seed=5)
    assert record.dice == "".join(map(str, dice))
    assert record.actions == "".join(map(str, actions))
    assert record.places == game.places()


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_a_record_played_again_is_the_game(rules):
    _, actions, _ = random_game(rules, 6)
    played = Record.of(actions, names(rules), rules=rules, seed=6).replay()
    game = Game(rules, seed=6)
    assert played.opening == game.opening_events
    for step in played.steps:
        assert step.position == game.position
        assert step.events == game.play(step.action)
    assert played.end == game.position
    assert game.winner is not None


@pytest.mark.parametrize("rules", ALL_RULES[::7], ids=str)
def test_a_file_gives_back_what_was_written(rules, tmp_path):
    path = tmp_path / "games.jsonl"
    written = [
        Record.of(random_game(rules, seed)[1], names(rules), rules=rules, seed=seed)
        for seed in range(3)
    ]
    write_records(path, written)
    records = Records(path)
    assert list(records) == [0, 1, 2]
    assert [records[number] for number in records] == written
    assert records.rules == rules
    assert records.agents == tuple(names(rules))


def test_a_record_may_begin_anywhere_and_end_before_the_end(tmp_path):
    chosen = {"rules": TWO, "seed": 3, "episode": 7, "position": "40.12.0.0/33.3.0.0 1 3"}
    _, actions, _ = random_game(TWO, 3, episode=7, position=chosen["position"])
    for length in (0, 1, len(actions) - 1):
        record = Record.of(actions[:length], ["a", "b"], **chosen)
        assert record.places == (0, 0)
        assert (
            str(record.replay().steps[0].position if length else record.replay().end)
            == (chosen["position"])
        )
        write_records(tmp_path / "part.jsonl", [record])
        assert Records(tmp_path / "part.jsonl")[0] == record


def test_dice_of_no_seed_are_taken_as_they_are():
    rolls = [3, 6, 3] * 100
    _, actions, dice = random_game(TWO, 4, dice=rolls)
    seeded = Record.of(actions[:0], ["a", "b"], rules=TWO, seed=4)
    record = replace(seeded, dice="".join(map(str, dice)), actions="".join(map(str, actions)))
    places = (1, 2) if random_game(TWO, 4, dice=rolls)[0].winner == 0 else (2, 1)
    assert len(replace(record, seed=None, places=places).replay().steps) == len(actions)
    with pytest.raises(ValueError, match="its seed gives"):
        record.replay()


def changed(digits: str, at: int, allowed: str) -> str:
    other = next(digit for digit in allowed if digit != digits[at])
    return digits[:at] + other + digits[at + 1 :]


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize(
    ("tamper", "complaint"),
    [
        (lambda r: {"places": r.places[::-1]}, r"places \[.*\] are noted, where it comes to"),
        (lambda r: {"places": (0, 0)}, "are noted, where it comes to"),
        (lambda r: {"actions": r.actions[:-1]}, "rolls are noted, its moves take|are noted, where"),
        (lambda r: {"actions": r.actions + "0"}, "the game is over"),
        (lambda r: {"actions": "3" + r.actions[1:]}, r"decision 1 at '0\.0\.0\.0.*' is 3; legal"),
        (lambda r: {"dice": r.dice[:-1]}, "no more rolls are noted"),
        (lambda r: {"dice": r.dice + "1"}, "rolls are noted, its moves take"),
        (lambda r: {"position": "50.0.0.0/0.0.0.0 0 -"}, "does not begin: .*progress"),
        (lambda r: {"forfeits": (r.places.index(1),)}, "are noted, where it comes to"),
    ],
)
def test_a_record_that_breaks_the_rules_is_refused_with_the_place(
    tamper, complaint, seeded, record
):
    wrong = replace(record, **tamper(record), **({} if seeded else {"seed": None}))
    if seeded and "dice" in tamper(record) and len(wrong.dice) > len(record.dice):
        complaint += "|its seed gives"
    with pytest.raises(ValueError, match=complaint):
        wrong.replay()


def test_a_die_that_was_not_rolled_is_refused(record):
    for at in (0, 30, len(record.dice) - 1):
        wrong = replace(record, dice=changed(record.dice, at, "123456"))
        with pytest.raises(ValueError, match=f"roll {at + 1} is noted as"):
            wrong.replay()


def test_the_text_has_a_line_for_each_turn():
    dice = [1, 2, 3, 6, 3, 6, 2, 1, 6, 6]
    game, actions = Game(TWO, seed=0, dice=dice), []
    while game.rolls < len(dice):
        actions.append(int(game.action_mask().argmax()))
        game.push(actions[-1])
    text = replace(
        Record.of([], ["red", "blue"], rules=TWO, seed=0),
        seed=None,
        dice="".join(map(str, dice)),
        actions="".join(map(str, actions)),
    ).text()
    assert text == "\n".join(
        [
            "1. red (0): 1, 2, 3, -",
            "2. blue (1): 6 yard-1, 3 1-4",
            "3. red (0): 6 yard-1, 2 1-3",
            "4. blue (1): 1 4-5",
            "5. red (0): 6 yard-1, 6",
            "not played to its end",
        ]
    )


def test_the_text_tells_captures_and_the_places():
    record = Record.of([1], ["red", "blue"], rules=TWO, seed=0, position="20.3.0.0/24.0.0.0 0 1")
    assert record.text().splitlines()[0] == "1. red (0): 1 3-4 x1"
    won = Record.of([3], ["red", "blue"], rules=TWO, seed=0, position="44.43.42.40/24.0.0.0 0 1")
    assert won.text().splitlines()[-1] == "places: 1 red (0), 2 blue (1)"


def test_those_who_forfeit_come_last_and_the_others_keep_their_order():
    assert with_forfeits([1, 2, 3, 4], [0]) == (4, 1, 2, 3)
    assert with_forfeits([1, 2, 2, 4], [0]) == (4, 1, 1, 3)
    assert with_forfeits([1, 2, 3, 4], [3]) == (1, 2, 3, 4)
    assert with_forfeits([1, 2], [0, 1]) == (0, 0)
    assert with_forfeits([0, 0], [0]) == (0, 0)


def test_a_file_of_the_arena_holds_records(tmp_path):
    path = tmp_path / "match.jsonl"
    results = arena.play(["random", "careful"], games=20, rules=TWO, seed=1, file=path)
    records = Records(path)
    assert [records[number] for number in sorted(records)] == [results.record(k) for k in range(20)]
    assert records[3].agents == ("careful", "random")


@pytest.mark.parametrize("broken", ["places", "actions", "dice"])
def test_a_game_that_was_meddled_with_is_named_by_line_and_number(broken, tmp_path):
    path = tmp_path / "match.jsonl"
    arena.play(["random", "careful"], games=4, rules=TWO, seed=1, file=path)
    lines = path.read_text().splitlines(keepends=True)
    fields = json.loads(lines[2])
    fields[broken] = fields[broken][::-1]
    path.write_text("".join([*lines[:2], json.dumps(fields) + "\n", *lines[3:]]))
    records = Records(path)
    with pytest.raises(ValueError, match=rf"match\.jsonl, line 3, game {fields['game']}: "):
        records[fields["game"]]
    assert sum(number != fields["game"] and bool(records[number]) for number in records) == 3


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nonsense", "line 3: no game"),
        ('{"game": 0}', "line 3: game 0 is there twice"),
        ('{"game": -1}', "line 3: no game"),
        ("[]", "line 3: no game"),
    ],
)
def test_lines_that_are_no_games_are_refused_by_number(line, complaint, record, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [record])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=complaint):
        Records(path)


@pytest.mark.parametrize(
    "change",
    [
        {"players": [0]},
        {"players": [0, 5]},
        {"players": 3},
        {"dice": "12x"},
        {"dice": "7"},
        {"dice": 5},
        {"actions": "4"},
        {"places": [1, 2, 3]},
        {"places": [1, -2]},
        {"seed": -1},
        {"seed": "x"},
        {"episode": 1.5},
        {"position": 3},
        {"forfeits": None},
        {"forfeits": [2]},
    ],
)
def test_a_line_with_a_wrong_value_is_no_game(change, record, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [record])
    head, line = path.read_text().splitlines()
    path.write_text(f"{head}\n{json.dumps(json.loads(line) | change)}\n")
    with pytest.raises(ValueError, match="line 2, game 0: "):
        Records(path)[0]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no newline",
        "x\n",
        "[]\n",
        "[" * 100_000 + "\n",
        '{"format": "ludo_env.games", "version": 99}\n',
        '{"format": "ludo_env.games", "version": 1, "rules": {}, "agents": "abc"}\n',
        '{"format": "ludo_env.games", "version": 1, "rules": {}, "agents": ["\\u001b[31m"]}\n',
        '{"format": "ludo_env.games", "version": 1, "rules": {}, "agents": ["\\ud800"]}\n',
    ],
    ids=range(9),
)
def test_files_of_another_kind_are_refused(content, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match="does not begin as files of games do"):
        Records(path)


def test_a_file_cannot_mix_rules_nor_be_empty(record, tmp_path):
    other = Record.of([], ["a", "b", "c"], rules=Rules(num_players=3), seed=1)
    for records in ([], [record, other]):
        with pytest.raises(ValueError, match="one set of rules"):
            write_records(tmp_path / "games.jsonl", records)
    with pytest.raises(ValueError, match="cannot be written"):
        write_records(tmp_path / "nowhere" / "games.jsonl", [record])


def test_a_line_that_nests_without_end_is_no_game(record, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [record])
    with path.open("a") as file:
        file.write("[" * 100_000 + "\n")
    with pytest.raises(ValueError, match="line 3: no game"):
        Records(path)


def test_a_file_is_written_through_a_link_and_a_link_that_leads_nowhere_is_refused(
    record, tmp_path
):
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(real)
    write_records(link, [record])
    assert link.is_symlink()
    assert Records(real)[0] == record
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    with pytest.raises(ValueError, match="cannot be written"):
        write_records(loop, [record])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "link.jsonl",
        "loop.jsonl",
        "real.jsonl",
    ]


def test_the_text_tells_who_forfeited(record):
    told = Record.of(
        map(int, record.actions),
        record.agents,
        rules=record.rules,
        seed=record.seed,
        episode=record.episode,
        forfeits=[record.places.index(1)],
    )
    last = told.text().splitlines()[-1]
    winner = record.places.index(1)
    assert last.startswith(f"places: 1 {record.agents[1 - winner]} ({1 - winner}), 2 ")
    assert last.endswith(f"; forfeited: {record.agents[winner]} ({winner})")


def test_a_line_that_was_cut_off_is_passed_over(record, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [record, record])
    path.write_bytes(path.read_bytes()[:-20])
    assert list(Records(path)) == [0]
