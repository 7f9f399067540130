"""Floor 2: agents, who turn batches of games into actions."""

from ludo_env.agents.base import Agent, make_agent
from ludo_env.agents.scripted import Scripted

__all__ = ["Agent", "Scripted", "make_agent"]
