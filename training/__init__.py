"""Floor 5: training scripts, used from a clone."""

import sys
from importlib.util import find_spec

_missing = [
    package
    for package in ("torch", "stable_baselines3", "sb3_contrib", "cmaes", "jsonargparse")
    if find_spec(package) is None
]
if _missing:  # before a script's own imports end in a traceback
    print(
        f"error: training needs {', '.join(_missing)}: pip install -e '.[train]'", file=sys.stderr
    )
    raise SystemExit(2)
