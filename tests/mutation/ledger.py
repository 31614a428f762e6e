"""What became of each mutant: a file of JSON lines, so that a run that was stopped goes on.

A mutant that was killed is known as long as its source is the same, one that survived as long as
its tests are the same too: new tests give every survivor another try.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant

KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


@dataclass(frozen=True)
class Result:
    """What became of a mutant: `by` names the test that killed it, `change` the changed line.

    `source` and `tests` are the digests of the source and of the tests that were run.
    """

    mutant: Mutant
    outcome: str
    by: str
    change: str
    source: str
    tests: str
    seconds: float

    @property
    def survived(self) -> bool:
        """Whether no test noticed it."""
        return self.outcome == SURVIVED


class Ledger:
    """The results in a file, which grows by one line with each."""

    def __init__(self, path: Path):
        self.path = path
        self.results: dict[Mutant, Result] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for line in lines:
            row = json.loads(line)
            result = Result(**{**row, "mutant": Mutant(**row["mutant"])})
            self.results[result.mutant] = result

    def recall(self, mutant: Mutant, source: str, tests: str) -> Result | None:
        """The result of a mutant of this source under these tests; None if it is to be tried."""
        found = self.results.get(mutant)
        if found is None or found.source != source:
            return None
        return None if found.survived and found.tests != tests else found

    def add(self, result: Result) -> None:
        """Keep a result."""
        self.results[result.mutant] = result
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
