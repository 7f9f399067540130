"""One thread for every library: several busy threads on few cores only wait for each other."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
