"""What results were measured on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path


def versions() -> dict[str, str]:
    """Processor, system, and the versions of all that the results depend on."""
    found = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    for package in ("ludo_env", "numpy", "numba", "gymnasium", "pettingzoo"):
        found[package] = metadata.version(package)
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
