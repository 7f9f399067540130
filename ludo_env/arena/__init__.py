"""Floor 4: agents against each other, and what the results are worth."""

from ludo_env.arena.match import Match, play_match
from ludo_env.arena.report import summary, table

__all__ = ["Match", "play_match", "summary", "table"]
