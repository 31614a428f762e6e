"""Plant mutants into a copy of the suite, one at a time, and count those that no test stops.

    python -m tests.mutation                                   every mutant: days
    python -m tests.mutation --sample 8 --seed 1               at 8 places of each file: hours
    python -m tests.mutation --sample 8 gpt1/model tasks/metrics.py

Needs cosmic-ray (`make test-mutation` installs it). The results so far are kept, and not made
again.
"""

import argparse
import hashlib
import math
import random
import tempfile
import time
from pathlib import Path

from tests.alarms.faults import ROOT
from tests.alarms.planting import copy_suite, run_tests
from tests.mutation import mutants
from tests.mutation.concerns import concerned, sources
from tests.mutation.ledger import KILLED, SURVIVED, TIMED_OUT, Ledger, Result
from tests.mutation.mutants import Mutant
from tests.mutation.report import change, explanations, report

LEDGER = ROOT / "results" / "mutation" / "ledger.jsonl"


class Trials:
    """Mutants tried in a copy of the suite, which each of them leaves as it was."""

    def __init__(self, suite: Path, fixed: float | None = None):
        self.suite, self.fixed = suite, fixed
        self.seconds: dict[str, float] = {}  # that each test file takes

    def limit(self, tests: tuple[str, ...]) -> float:
        """Seconds after which a mutant hangs: the `fixed` ones, or three times what the tests take.

        Raises ValueError if a test fails without any mutant.
        """
        if self.fixed is not None:
            return self.fixed
        for test in tests:
            if test not in self.seconds:
                start = time.monotonic()
                found = run_tests(self.suite, test)
                if found.failed or found.broken or found.timed_out:
                    raise ValueError(f"{test} fails without any mutant: {found}")
                self.seconds[test] = time.monotonic() - start
        return 30 + 3 * sum(self.seconds[test] for test in tests)

    def run(self, mutant: Mutant) -> Result | None:
        """Plant a mutant, and run the tests that concern its file up to the first that fails.

        None for a change that cannot be made, or is no Python, which any test would stop.
        """
        tests, path = concerned(mutant.path), self.suite / mutant.path
        source = path.read_text(encoding="utf-8")
        mutated = mutants.mutate(source, mutant)
        if mutated is None or not mutants.is_python(mutated):
            return None
        limit, start = self.limit(tests), time.monotonic()
        path.write_text(mutated, encoding="utf-8")
        try:
            found = run_tests(self.suite, *tests, stop=True, limit=limit)
        finally:
            path.write_text(source, encoding="utf-8")
        killed = [*found.failed, *found.broken]
        outcome = TIMED_OUT if found.timed_out else KILLED if killed else SURVIVED
        return Result(
            mutant=mutant,
            outcome=outcome,
            by=killed[0][:200] if killed else "",
            change=change(source, mutated),
            source=digest(path),
            tests=digest(*(self.suite / test for test in tests)),
            seconds=round(time.monotonic() - start, 1),
        )


def digest(*paths: Path) -> str:
    """The SHA-256 of files, one after the other."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="sources or folders (default: all)")
    parser.add_argument("--sample", type=int, help="at how many places of each file")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--ledger", type=Path, default=LEDGER, help="the results so far")
    parser.add_argument(
        "--limit", type=float, help="seconds of a mutant; saves a run of the tests without any"
    )
    a = parser.parse_args()
    chosen: list[Mutant] = []
    for path in sources(a.paths):
        found = mutants.find(path, (ROOT / path).read_text(encoding="utf-8"))
        chosen += found if a.sample is None else mutants.sample(found, a.sample, a.seed)
    random.Random(a.seed).shuffle(chosen)  # so that what was done when it stops is a fair sample
    ledger, results, end = Ledger(a.ledger), [], time.monotonic() + 60 * a.minutes
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(copy_suite(Path(folder, "suite")), a.limit)
        for number, mutant in enumerate(chosen, 1):
            tests = digest(*(trials.suite / test for test in concerned(mutant.path)))
            known = ledger.recall(mutant, digest(trials.suite / mutant.path), tests)
            if known is None and time.monotonic() > end:
                continue
            if known is None:
                known = trials.run(mutant)
                if known is None:
                    continue
                ledger.add(known)
                place = f"{mutant.path}:{mutant.line}"
                print(f"{number}/{len(chosen)} {known.outcome} {place} {known.change}", flush=True)
            results.append(known)
    print("\n" + report(results, explanations()))


if __name__ == "__main__":
    main()
