"""How far a run of the graph is, from the log that Snakemake writes while it runs.

Snakemake counts jobs, not time. The time that is left is reckoned from what finished jobs of the
same rule took, in this run or in an earlier one (its benchmarks); kinds of which none has finished
are named, not guessed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

STAMP = re.compile(r"\[(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\]")
STEPS = re.compile(r"(\d+) of \d+ steps \(")
FINISHED = re.compile(r"Finished jobid: (\d+) \(Rule: (\w+)\)")
BEGUN = re.compile(r"Job (\d+): (.*)")  # a rule with a message
RULE = re.compile(r"(?:local)?rule (\w+):")  # a rule without one; its number follows
NUMBER = re.compile(r" +jobid: (\d+)")
FAILED = re.compile(r"Error in rule (\w+)")
STATS = re.compile(r"^(\w+) +(\d+)$", re.MULTILINE)
INSIDE = (
    r"(?:\w+\.(?:csv|md|html)|world|corpus|examples|encoded|baselines|tokenizer|pretrain|cells"
    r"|figures|kept|studies)\b"
)


@dataclass
class Progress:
    """What a log says: `jobs` are the planned ones by rule, `running` the messages of those begun.

    `seconds` are the times of the finished jobs by rule; `over` says whether Snakemake has ended.
    """

    command: str
    jobs: dict[str, int]
    done: int = 0
    running: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: list[str] = field(default_factory=list)
    begun: datetime | None = None
    seen: datetime | None = None
    over: bool = False

    @property
    def total(self) -> int:
        """Number of jobs of the run."""
        return sum(self.jobs.values())

    def left(self, earlier: dict[str, float]) -> tuple[float, list[str]]:
        """Seconds left, and the rules that they lack because none of their jobs has finished.

        A job that runs counts as a whole. `earlier` are the seconds of a job of each rule in an
        earlier run.
        """
        work, unknown = 0.0, []
        for rule, n in self.remaining().items():
            times = self.seconds.get(rule, [])
            if times:
                work += n * sum(times) / len(times)
            elif rule in earlier:
                work += n * earlier[rule]
            else:
                unknown.append(rule)
        return work / self.at_once(), unknown

    def remaining(self) -> Counter[str]:
        """The jobs that have not finished, by rule."""
        finished = Counter({rule: len(times) for rule, times in self.seconds.items()})
        jobs = {rule: n for rule, n in self.jobs.items() if rule != "all"}  # which does nothing
        return Counter(jobs) - finished

    def at_once(self) -> float:
        """How many jobs ran at once so far, on average."""
        if self.begun is None or self.seen is None:
            return 1.0
        spent = sum(map(sum, self.seconds.values()))
        spent += sum((self.seen - begun).total_seconds() for begun, _ in self.running.values())
        return max(1.0, spent / max(1.0, (self.seen - self.begun).total_seconds()))


def parse(text: str) -> Progress | None:
    """The progress that a log tells; None before the jobs are planned."""
    _, planned, rest = text.partition("Job stats:\n")
    if not planned:
        return None
    stats, _, rest = rest.partition("\n\n")
    jobs = {rule: int(n) for rule, n in STATS.findall(stats) if rule != "total"}
    command = re.search(r"^ +Command: (.*)$", text, re.MULTILINE)
    progress = Progress(command[1] if command else "", jobs)
    rule, failing = "", False
    now: datetime | None = None
    for line in rest.split("\n"):
        if found := STAMP.fullmatch(line):
            now = datetime.strptime(found[1], "%a %b %d %H:%M:%S %Y")
            progress.begun, progress.seen, failing = progress.begun or now, now, False
        elif now and (found := BEGUN.fullmatch(line)):
            progress.running[found[1]] = (now, found[2])
        elif found := RULE.fullmatch(line):
            rule = found[1]
        elif found := FAILED.match(line):
            progress.failed.append(found[1])
            failing = True
        elif now and (found := NUMBER.fullmatch(line)):
            if failing:
                progress.running.pop(found[1], None)
            else:
                progress.running.setdefault(found[1], (now, rule))
        elif now and (found := FINISHED.fullmatch(line)):
            begun, _ = progress.running.pop(found[1], (now, ""))
            progress.seconds[found[2]].append((now - begun).total_seconds())
        elif found := STEPS.match(line):
            progress.done = int(found[1])
        elif line.startswith("Complete log(s):"):
            progress.over = True
    return progress


def last_run(results: Path) -> Progress | None:
    """The progress of the last run that wrote to a folder of results; None if no log is there."""
    for text in _logs(results):
        if progress := parse(text):
            return progress
    return None


def _logs(results: Path) -> Iterator[str]:
    """The logs of runs that name files of `results`, the last one first."""
    place = results.absolute()
    for base in place.parents:
        named = re.compile(rf"(?<![\w./-]){re.escape(place.relative_to(base).as_posix())}/{INSIDE}")
        logs = sorted((base / ".snakemake" / "log").glob("*.snakemake.log"), reverse=True)
        for path in logs:
            text = path.read_text(encoding="utf-8", errors="replace")
            if named.search(text):
                yield text
