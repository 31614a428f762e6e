"""The report of a run: killed, timed out and survived by file, and each survivor.

`equivalent.toml` explains the survivors that no test can kill, each by its path and the change of
its line, so that an explanation lasts until that line is edited.
"""

import difflib
import tomllib
from collections import Counter
from pathlib import Path

from tests.mutation.ledger import KILLED, SURVIVED, TIMED_OUT, Result

EXPLAINED = Path(__file__).with_name("equivalent.toml")


def explanations(path: Path = EXPLAINED) -> dict[tuple[str, str], str]:
    """Why a survivor is none, by path and change."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {(row["path"], row["change"]): row["why"] for row in rows}


def report(results: list[Result], explained: dict[tuple[str, str], str]) -> str:
    """The report as Markdown. An explained survivor is in no score."""
    left = [one for one in results if not (one.survived and _key(one) in explained)]
    lines = ["| file | mutants | killed | timed out | survived | explained | score |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    paths = sorted({one.mutant.path for one in results})
    for path in paths:
        own = [one for one in results if one.mutant.path == path]
        lines.append(_row(f"`{path}`", own, [one for one in left if one.mutant.path == path]))
    lines.append(_row("all", results, left))
    survivors = [one for one in left if one.survived]
    if survivors:
        lines += ["", "No test stops these:", ""]
    lines += [f"- `{one.mutant.path}:{one.mutant.line}` `{one.change}`" for one in survivors]
    return "\n".join(lines)


def change(before: str, after: str) -> str:
    """The lines that differ, as `old -> new`."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    old, new = (
        " ".join(line[1:].strip() for line in changed if line[0] == sign).strip() for sign in "-+"
    )
    return f"{old} -> {new}"


def _key(result: Result) -> tuple[str, str]:
    return result.mutant.path, result.change


def _row(name: str, found: list[Result], left: list[Result]) -> str:
    counts = Counter(one.outcome for one in left)
    score = f"{1 - counts[SURVIVED] / len(left):.0%}" if left else "–"
    parts = [len(found), counts[KILLED], counts[TIMED_OUT], counts[SURVIVED]]
    return "| " + " | ".join([name, *map(str, parts), str(len(found) - len(left)), score]) + " |"
