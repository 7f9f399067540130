"""``python -m ludo_env.cli``."""

import sys

from ludo_env.cli import main

sys.exit(main())
