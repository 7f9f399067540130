"""The package as a whole: importing it, its floors, and its compiled code."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import gymnasium
import pettingzoo
import pytest

import ludo_env

PACKAGE = Path(ludo_env.__file__).parent
ENV_ID = "ludo_env/Ludo-v0"


def run(
    code: str, *, root: Path = PACKAGE.parent, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh Python that finds the package below ``root``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**inherited, "PYTHONPATH": str(root), **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def output_of(code: str, **kwargs: object) -> str:
    """What the code prints; it must not fail."""
    done = run(code, **kwargs)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    return done.stdout


# Importing

FOREIGN = [
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "matplotlib",
    "pygame",
    "PIL",
    "flask",
    "werkzeug",
    "moviepy",
    "playwright",
    "ray",
    "tqdm",
    "tensorboard",
    "pytest",
    "_pytest",
    "hypothesis",
    "mypy",
]


def test_importing_prints_nothing_starts_no_thread_and_writes_no_file(tmp_path):
    code = "import ludo_env, threading; assert threading.active_count() == 1"
    done = run(code, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_importing_loads_no_extra_and_no_test_tool():
    code = f"import ludo_env, sys; print([name for name in {FOREIGN} if name in sys.modules])"
    assert output_of(code) == "[]\n"


def test_the_package_works_where_no_extra_is_installed():
    code = f"""
import sys
sys.modules.update(dict.fromkeys({FOREIGN}))
import ludo_env, gymnasium
game = ludo_env.Game(seed=1)
game.play(game.action_mask().argmax())
ludo_env.make_agent("random")
env = ludo_env.ludo_v0.env()
env.reset(seed=1)
gymnasium.make("ludo_env/Ludo-v0").reset(seed=1)
"""
    assert output_of(code) == ""


def test_the_public_names_are_there():
    names = [
        *("Rules", "Position", "Game", "GameBatch", "IllegalMoveError"),
        *("ludo_v0", "make_agent", "OBSERVATION", "__version__"),
    ]
    for name in names:
        assert hasattr(ludo_env, name)
        assert name in ludo_env.__all__
    assert isinstance(ludo_env.ludo_v0, ModuleType)
    assert issubclass(ludo_env.IllegalMoveError, ValueError)


def test_the_version_is_one_that_installers_understand():
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev|\.post)\d+)?", ludo_env.__version__)


# Registration


def test_gymnasium_finds_the_environments_by_their_id():
    spec = gymnasium.spec(ENV_ID)
    assert spec.vector_entry_point is not None
    assert gymnasium.make(ENV_ID).unwrapped.spec.id == ENV_ID


@pytest.mark.skipif(not hasattr(pettingzoo, "aec_registry"), reason="PettingZoo has no registry")
def test_pettingzoo_finds_the_environment_by_its_id():
    assert ENV_ID in pettingzoo.aec_registry
    assert pettingzoo.make("aec", ENV_ID, num_players=2).possible_agents == ["player_0", "player_1"]


def test_importing_again_neither_warns_nor_fails():
    code = """
import importlib, sys, warnings
import ludo_env
warnings.simplefilter("error")
importlib.reload(ludo_env)
for name in [name for name in sys.modules if name.split(".")[0] == "ludo_env"]:
    del sys.modules[name]
import ludo_env
import gymnasium
gymnasium.make("ludo_env/Ludo-v0").reset(seed=1)
"""
    done = run(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Floors

FLOORS = {
    "core": 1,
    "rewards": 2,
    "agents": 2,
    "solution": 2,
    "tables": 2,
    "envs": 3,
    "render": 3,
    "solver": 3,
    "ludo_v0": 3,
    "sb3": 3,
    "sb3_policy": 3,
    "registration": 3,
    "": 3,  # the package's own face
    "arena": 4,
    "play": 4,
    "web": 4,
    "sb3_callback": 4,
    "machine": 4,
    "bench": 4,
    "cli": 5,
    "__main__": 5,
}
FORBIDDEN = {
    "core": set(FLOORS) - {"core"},
    "rewards": {"envs", "render", "arena", "cli", "agents"},
    "agents": {"envs", "render", "arena", "cli"},
    "envs": {"arena", "cli"},
    "render": {"envs", "agents", "arena", "web", "cli"},
    "arena": {"envs", "web", "cli"},
    "play": {"envs", "arena", "web", "cli"},
    "web": {"envs", "arena", "cli"},
}


def sources() -> dict[str, Path]:
    """The package's modules by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["ludo_env", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = sources()


def imported_by(name: str) -> Iterator[str]:
    """The dotted names that a module imports, in functions too; modules where names are modules."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES else base


def part_of(module: str) -> str:
    """The part of the package that a module of it belongs to."""
    return (module + ".").split(".")[1]


def own_imports(name: str) -> list[str]:
    return [other for other in imported_by(name) if other.split(".")[0] == "ludo_env"]


def test_every_part_has_its_floor():
    unknown = {part_of(name) for name in MODULES} - set(FLOORS)
    assert not unknown, f"give these a floor: {unknown}"
    assert {"core", "agents", "envs", "rewards"} <= {part_of(name) for name in MODULES}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_nothing_from_above(name):
    own = part_of(name)
    for other in own_imports(name):
        assert other in MODULES, f"{name} imports {other}, which does not exist"
        assert FLOORS[part_of(other)] <= FLOORS[own], f"{name} imports {other}"
        assert part_of(other) not in FORBIDDEN.get(own, set()), f"{name} imports {other}"


def test_the_core_needs_numpy_and_numba_alone():
    allowed = {"ludo_env", "numpy", "numba", "llvmlite", *sys.stdlib_module_names}
    for name in MODULES:
        if part_of(name) == "core":
            outside = {other.split(".")[0] for other in imported_by(name)} - allowed
            assert not outside, f"{name} imports {outside}"


def test_no_imports_go_round_in_circles():
    left = {name: set(own_imports(name)) - {name} for name in MODULES}
    while left:
        free = {name for name, needed in left.items() if not needed & set(left)}
        assert free, f"these import each other: {sorted(left)}"
        left = {name: needed for name, needed in left.items() if name not in free}


# Compiled code

# A bit of everything under several rules; prints what came of it.
PLAY = """
import hashlib
import numpy as np
import ludo_env

digest = hashlib.sha256()

def tell(*values):
    for value in values:
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())

Rules = ludo_env.Rules
for rules in [Rules(2), Rules(3, 2, home_jumps=True), Rules(4, 4, False)]:
    batch = ludo_env.GameBatch(3, rules, seed=5, num_threads=2)
    agent = ludo_env.make_agent("random", seed=1)
    for _ in range(25):
        after = batch.afterstates()
        tell(batch.masks(), batch.observations(), batch.places(), after.pawns, after.player)
        batch.step(agent.act(batch.blind(), np.arange(3)))
    for policy in ("random", "first", "advance", "careful"):
        tell(batch.rollout(400, policy), batch.seeds, batch.players, batch.dice, batch.winners)
    batch.reset([0], seeds=2**63 - 1)
    given = ludo_env.GameBatch.from_positions([batch.position(row) for row in range(3)], rules, 8)
    tell(given.masks(), [given.position(row) for row in range(3)])
    game = ludo_env.Game(rules, seed=5, dice=[6, 1, 6, 2])
    for _ in range(25):
        tell(game.legal_moves(), game.play(game.action_mask().argmax()), game.position)
print(digest.hexdigest())
"""


def test_without_compilation_every_game_is_the_same():
    compiled = output_of(PLAY)
    assert len(compiled) == 65
    assert output_of(PLAY, NUMBA_DISABLE_JIT="1") == compiled


@pytest.fixture
def own_copy(tmp_path: Path) -> Path:
    """The package in a folder of its own, without caches."""
    shutil.copytree(PACKAGE, tmp_path / "ludo_env", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def caches_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbi"))


# Prints the pawns of a game whose rules put one on each start square.
OPENING = """
import ludo_env
rules = ludo_env.Rules(num_players=2, num_pawns=2, pawn_on_start=True)
print(ludo_env.GameBatch(1, rules, seed=1).position(0).pawns, ludo_env.__file__)
"""


def opening_of(folder: Path, **environment: str) -> str:
    """The pawns that the package in the folder begins with."""
    done = run(OPENING, root=folder, cwd=folder, **environment)
    assert done.stderr == ""
    pawns, _, file = done.stdout.rstrip().rpartition(" ")
    assert Path(file).is_relative_to(folder)
    return pawns


def test_where_no_cache_can_be_written_the_package_still_works(own_copy):
    barrier = own_copy / "file"
    barrier.touch()
    for folder in [path for path in (own_copy / "ludo_env").rglob("*") if path.is_dir()]:
        (folder / "__pycache__").touch()  # where a folder would be made, a file stands
    below = str(barrier / "folder")
    places = dict.fromkeys(["HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "IPYTHONDIR"], below)
    assert opening_of(own_copy, **places) == "((1, 0), (1, 0))"
    assert caches_in(own_copy) == []


def test_a_change_below_a_cached_kernel_compiles_it_anew(own_copy):
    cache = own_copy / "cache"
    assert opening_of(own_copy, NUMBA_CACHE_DIR=str(cache)) == "((1, 0), (1, 0))"
    assert caches_in(cache)
    kernels = own_copy / "ludo_env" / "core" / "kernels.py"
    source = kernels.read_text(encoding="utf-8")
    assert source.count("\nSTART_SQUARE = 1\n") == 1
    kernels.write_text(source.replace("\nSTART_SQUARE = 1\n", "\nSTART_SQUARE = 2\n"), "utf-8")
    assert opening_of(own_copy, NUMBA_CACHE_DIR=str(cache)) == "((2, 0), (2, 0))"


def test_type_checkers_find_the_package_typed():
    assert Path(ludo_env.__file__).with_name("py.typed").is_file()


def test_version_changelog_and_citation_agree():
    version = ludo_env.__version__
    assert f"## {version}" in Path("CHANGELOG.md").read_text()
    assert f"version: {version}" in Path("CITATION.cff").read_text()
