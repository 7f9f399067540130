"""The ids under which Gymnasium and PettingZoo find the environments."""

from __future__ import annotations

import gymnasium
import pettingzoo

ENV_ID = "ludo_env/Ludo-v0"


def register() -> None:
    """Register `ENV_ID`, once, in Gymnasium's registry and in PettingZoo's where it has one."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="ludo_env.envs.single:LudoEnv",
            vector_entry_point="ludo_env.envs.vector:LudoVectorEnv",
        )
    known = getattr(pettingzoo, "aec_registry", None)  # since PettingZoo 1.27
    if known is not None and ENV_ID not in known:
        pettingzoo.register("aec", ENV_ID, entry_point="ludo_env.ludo_v0:env")
