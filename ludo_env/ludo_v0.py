"""The PettingZoo module: ``ludo_v0.env()`` and ``ludo_v0.raw_env()``."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from ludo_env.envs.aec import raw_env

__all__ = ["env", "raw_env"]


def env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """The environment, wrapped as PettingZoo's classic games are.

    Args:
        **kwargs: The arguments of `raw_env`.
    """
    wrapped: AECEnv[str, Any, Any] = raw_env(**kwargs)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)
