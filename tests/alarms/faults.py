"""Faults that are planted one at a time, and for each the test that must stop it.

A fault is a patch, `faults/NAME.patch`: what is wrong, in one sentence; `Seen:`, a key of SEEN;
`Test:`, the test; where the test trains a cell, `Alarm:`, the alarm that the cell raises; the diff.

    python -m tests.alarms.faults > docs/alarms.md
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).with_name("faults")
SEEN = {  # where a fault is from, and what the page says of these
    "public reruns": (
        "Faults of public reruns of the paper. Each ran to its end and gave a table, without any "
        "error."
    ),
    "an earlier commit": (
        "Faults that an independent round planted, and that no test stopped at that time."
    ),
    "accidents": (
        "What keeps a run through the accidents that an independent round tried on an earlier "
        "commit ([accidents.md](accidents.md)), taken out: one or two faults for each."
    ),
    "nowhere": "Further small faults, thought up to get past the tests.",
}
INTRODUCTION = """\
# Alarms

How far can the tables be trusted? Each fault below is small, raises no error, and would change a
number, a label or a curve. `make test-alarms` plants them one at a time into a copy of the suite
and demands that the test beside it fails there, and passes without the fault. Where an alarm is
named, the test trains a cell to its end, and the cell's own alarm tells. The patches are in
`tests/alarms/faults`; this page is made from them.

`make test-mutation` draws further faults at random: [mutation.md](mutation.md).

Faults that only a whole run would show are what its controls are for: the checks of the embedded
world (`positive_control.md`), the books of shuffled words, and the constant answer and the bag of
words beside every score."""


@dataclass(frozen=True)
class Fault:
    """A fault, and what stops it: a test by its node id, and the alarm that it sees (or "")."""

    path: Path
    says: str
    seen: str
    test: str
    alarm: str = ""

    @property
    def name(self) -> str:
        """The patch's name without its suffix."""
        return self.path.stem

    @classmethod
    def read(cls, path: Path) -> "Fault":
        """The fault that a patch describes. Raises ValueError for a key that is missing."""
        head, found, _ = path.read_text(encoding="utf-8").partition("\n--- a/")
        says, _, lines = head.partition("\n\n")
        keys = dict(line.split(": ", 1) for line in lines.splitlines())
        if (
            not found
            or not says
            or not {"Seen", "Test"} <= keys.keys() <= {"Seen", "Test", "Alarm"}
        ):
            raise ValueError(f"{path.name}: expected a sentence, Seen, Test and a diff")
        return cls(path, " ".join(says.split()), keys["Seen"], keys["Test"], keys.get("Alarm", ""))

    def apply(self, root: Path, *options: str) -> None:
        """Apply the patch to the suite at `root`; `--check` only tries, `--reverse` undoes it.

        Raises ValueError if it does not fit.
        """
        command = ["git", "apply", "--whitespace=nowarn", *options, str(self.path)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"{self.path.name} does not apply: {done.stderr.strip()}")


def read_all() -> list[Fault]:
    """Every fault, by its patch's name."""
    return [Fault.read(path) for path in sorted(FOLDER.glob("*.patch"))]


def page(faults: list[Fault]) -> str:
    """The page that says of each fault what stops it."""
    parts = [INTRODUCTION]
    for seen, about in SEEN.items():
        rows = ["| fault | patch | stopped by |", "|---|---|---|"]
        for fault in faults:
            if fault.seen == seen:
                module, _, name = fault.test.rpartition("/")[2].partition(".py::")
                alarm = f"alarm `{fault.alarm}` in " if fault.alarm else ""
                test = f"{alarm}`{module}::{name.partition('[')[0]}`"
                rows.append(f"| {fault.says} | `{fault.name}` | {test} |")
        parts += [about, "\n".join(rows)]
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(page(read_all()))
