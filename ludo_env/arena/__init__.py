"""Floor 4: agents against each other, and what the results are worth."""

from ludo_env.arena.compare import Difference, compare
from ludo_env.arena.files import load
from ludo_env.arena.match import play
from ludo_env.arena.playing import AgentFaultError, Fault
from ludo_env.arena.report import summary, table
from ludo_env.arena.results import Results
from ludo_env.arena.schedule import Schedule

__all__ = [
    "AgentFaultError",
    "Difference",
    "Fault",
    "Results",
    "Schedule",
    "compare",
    "load",
    "play",
    "summary",
    "table",
]
