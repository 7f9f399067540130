"""Petits chevaux, a Ludo, for reinforcement learning."""

from ludo_env import ludo_v0, solver
from ludo_env.agents.base import make_agent
from ludo_env.core.batch import GameBatch, IllegalMoveError
from ludo_env.core.game import Game
from ludo_env.core.observation import OBSERVATION
from ludo_env.core.position import Position
from ludo_env.core.record import Record
from ludo_env.core.record_file import Records, write_records
from ludo_env.core.rules import Rules
from ludo_env.registration import register
from ludo_env.render import notebook

__version__ = "0.1.0"

__all__ = [
    "OBSERVATION",
    "Game",
    "GameBatch",
    "IllegalMoveError",
    "Position",
    "Record",
    "Records",
    "Rules",
    "__version__",
    "ludo_v0",
    "make_agent",
    "solver",
    "write_records",
]

register()
notebook.register()
