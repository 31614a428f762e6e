"""The programs that make data and shallow baselines: `python -m tasks --help` lists them."""

import sys

from tasks.common.programs import door

PROGRAMS = {
    "world": "tasks.world.make",
    "fetch": "tasks.fetch",
    "prepare": "tasks.prepare",
    "word_classes": "tasks.word_classes",
    "baselines": "tasks.baselines",
}

if __name__ == "__main__":
    sys.exit(door("tasks", PROGRAMS))
