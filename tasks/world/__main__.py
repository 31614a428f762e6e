"""Make the embedded world: books, the twelve tasks and DPRD in their original file layouts.

    python -m tasks.world --settings '{"seed": 7}' --out results/world

Settings (all optional):
- `seed` (7): of everything; equal settings give equal bytes.
- `words` (600000): of the corpus, about; spread evenly over `books` (80).
- `scale` (1.0): multiplies the rows of every training split.
- `report` (200): rows of each reported split; RACE has three fifths of it, half middle, half high.
- `rows` ({}): training rows of single tasks, `{"rte": 60}`, in place of the default times `scale`.

Writes `books/*.txt`, one folder a task (CoLA, SST-2, MRPC, STS-B, QQP, MNLI, QNLI, RTE, SNLI,
SciTail, RACE, StoryCloze, DPRD) and, last, `manifest.json`: settings, sha256 and size of every
file, rows of every split. Files of an older world in the same folder are removed first.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from tasks.common.errors import InputError, run
from tasks.common.files import sha256_file, write_atomic, write_json
from tasks.world.books import write_book
from tasks.world.labelled import FAMILIES, TRAIN, generator, make_task, sentences
from tasks.world.lexicon import words

DEFAULTS = {"seed": 7, "words": 600_000, "books": 80, "scale": 1.0, "report": 200, "rows": {}}
FOLDERS = (
    "books",
    *words("CoLA SST-2 MRPC STS-B QQP MNLI QNLI RTE SNLI SciTail RACE StoryCloze DPRD"),
)


def check_settings(given: dict) -> dict:
    """The settings with every default filled in. Raises InputError for an unknown or wrong one."""
    if not isinstance(given, dict):
        raise InputError(f"world settings: an object is needed, found {given!r}")
    for key, value in given.items():
        if key not in DEFAULTS:
            known = ", ".join(DEFAULTS)
            raise InputError(f"world settings: unknown key {key!r}; known are {known}")
        if key == "rows":
            _check_rows(value)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"world settings: {key} is {value!r}; a number is needed")
        elif key != "scale" and not isinstance(value, int):
            raise InputError(f"world settings: {key} is {value!r}; a whole number is needed")
        elif key != "seed" and not value > 0:
            raise InputError(f"world settings: {key} is {value!r}; it must be above 0")
    settings = DEFAULTS | given
    if settings["report"] < 10:
        raise InputError(f"world settings: report is {settings['report']}; at least 10 is needed")
    return settings


def _check_rows(rows: dict) -> None:
    if not isinstance(rows, dict):
        raise InputError(f"world settings: rows is {rows!r}; an object of task: number is needed")
    for name, n in rows.items():
        if name not in TRAIN:
            raise InputError(f"world settings: rows.{name}: no such task; there are {list(TRAIN)}")
        if isinstance(n, bool) or not isinstance(n, int) or not 6 <= n <= 5_000:
            raise InputError(f"world settings: rows.{name} is {n!r}; 6 to 5000 rows are possible")


def make_world(settings: dict, out: Path) -> dict:
    """Write the whole world under `out` and return its manifest."""
    settings = check_settings(settings)
    seed = settings["seed"]
    out.mkdir(parents=True, exist_ok=True)
    (out / "manifest.json").unlink(missing_ok=True)
    for folder in FOLDERS:
        shutil.rmtree(out / folder, ignore_errors=True)
    files: dict[str, str] = {}
    rows: dict[str, dict[str, int]] = {}
    forbidden: set[str] = set()
    for name, family in FAMILIES.items():
        train = settings["rows"].get(name) or max(6, round(TRAIN[name] * settings["scale"]))
        report = settings["report"] * 3 // 5 if name == "race" else settings["report"]
        splits = make_task(seed, name, train, report)
        rows[name] = {split: len(part) for split, part in splits.items()}
        files |= family.write(splits)
        forbidden |= sentences(name, splits)
    each = max(50, settings["words"] // settings["books"])
    for number in range(settings["books"]):
        rng = generator(seed, f"book/{number}")
        files[f"books/book{number:03d}.txt"] = write_book(rng, number, each, forbidden)
    try:
        for path, text in files.items():
            with write_atomic(out / path) as file:
                file.write(text)
    except BaseException:  # half a world is none
        for folder in FOLDERS:
            shutil.rmtree(out / folder, ignore_errors=True)
        raise
    listed = {
        path: {"bytes": (out / path).stat().st_size, "sha256": sha256_file(out / path)}
        for path in sorted(files)
    }
    manifest = {"settings": settings, "rows": rows, "files": listed}
    write_json(out / "manifest.json", manifest)
    return manifest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", default="{}", help="JSON, see the module's docstring")
    parser.add_argument("--out", required=True, help="folder to write to")
    given = parser.parse_args()
    try:
        settings = json.loads(given.settings)
    except json.JSONDecodeError as error:
        raise InputError(f"--settings: not JSON ({error.msg}): {given.settings!r:.80}") from None
    manifest = make_world(settings, Path(given.out))
    rows = sum(sum(splits.values()) for splits in manifest["rows"].values())
    print(f"world: {manifest['settings']['books']} books, {rows} rows of {len(FAMILIES)} tasks")


if __name__ == "__main__":
    sys.exit(run(main))
