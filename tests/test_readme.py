import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ludo_env import OBSERVATION, Position, Rules
from ludo_env.cli import main
from ludo_env.render.text import board_text

README = Path("README.md").read_text()
PAGES = [README, *(path.read_text() for path in sorted(Path("docs").glob("*.md")))]
BLOCKS = [block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_every_example_runs_as_printed(block, tmp_path):
    command = [sys.executable, "-W", "error", "-c", block]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_agent_of_the_example_plays(tmp_path):
    block = next(block for block in BLOCKS if block.startswith("# my_agents.py"))
    (tmp_path / "my_agents.py").write_text(block)
    arguments = [
        "evaluate",
        "my_agents:Cautious",
        "--against",
        "advance",
        "--players",
        "2",
        "--games",
        "20",
    ]
    command = [sys.executable, "-m", "ludo_env.cli", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_observation_table_names_every_slice_and_its_length():
    lengths = {}
    for name, length in re.findall(r"^\| `(\w+)`[^|]*\| (\d+) \|", README, re.MULTILINE):
        numbers = range(4) if "_k" in name else range(1, 4)
        lengths |= {re.sub("_[kd]", f"_{number}", name): int(length) for number in numbers}
    assert lengths == {name: part.stop - part.start for name, part in OBSERVATION.items()}


def test_the_board_is_drawn_by_the_package():
    position = Position.parse("41.12.1.0/44.23.3.0/39.28.0.0/30.17.5.0 0 6", Rules())
    assert board_text(position, Rules()) in README


def test_the_picture_is_drawn_by_the_package(tmp_path):
    command = re.search(r"^ludo render '(.*)' --out board.svg$", README, re.MULTILINE)
    assert main(["render", command[1], "--out", str(tmp_path / "board.svg"), "--size", "480"]) == 0
    drawn = (tmp_path / "board.svg").read_text()
    assert drawn == Path("docs/pictures/board.svg").read_text()


def test_the_moving_picture_is_made_by_the_commands_that_are_printed(tmp_path, monkeypatch):
    page = Path("docs/play.md").read_text()
    (commands,) = re.findall(r"```\n(ludo evaluate .*\nludo replay .*\.gif)\n```", page)
    picture = Path("docs/pictures/game.gif").resolve()
    monkeypatch.chdir(tmp_path)
    for command in commands.splitlines():
        flags = ["--no-open"] if command.startswith("ludo replay") else []
        assert main([*shlex.split(command)[1:], *flags]) == 0
    with Image.open("game.gif") as made, Image.open(picture) as shown:
        assert made.n_frames == shown.n_frames
        for number in range(0, made.n_frames, 10):
            made.seek(number)
            shown.seek(number)
            colours = [np.asarray(film.convert("RGB")).astype(int) for film in (made, shown)]
            assert np.abs(colours[0] - colours[1]).mean() < 2


def test_no_figure_is_left_open():
    texts = [*PAGES, *(path.read_text() for path in Path("configs").glob("*.yaml"))]
    left_open = r"\b(MEASURED|NUMBERS|TODO|BENCH_TABLE|OPENSPIEL_TABLE)\b|@[A-Z]+@"
    assert not any(re.search(left_open, text) for text in texts)
