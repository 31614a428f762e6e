"""Write the synthetic world: books, the twelve tasks and DPRD, in their original file layouts.

    python -m tasks world --settings '{"seed": 7}' --out results/world

The settings are those of `tasks.world.settings.WorldSettings`; all have defaults. Writes
`books/*.txt`, one folder per task and, last, `manifest.json`: the settings, the size and SHA-256 of
every file, the rows of every split. Files of an earlier world in the same folder are removed first.
"""

import argparse
import re
import shutil
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import refuse_others, scratch_folder, write_json, writing
from tasks.common.manifest import NAME, describe, read
from tasks.world.books import write_book
from tasks.world.cloze import PATH, write_cloze
from tasks.world.draw import Draw
from tasks.world.settings import WorldSettings
from tasks.world.tasks import WORLD_TASKS, forbidden_texts, make_splits

MARK = "degrees.csv"  # moved first, so that a killed program leaves its mark


def make_world(settings: WorldSettings, out: Path) -> dict[str, Any]:
    """Write the whole world to `out` and return its manifest. Never leaves partial output.

    Raises InputError for a folder of other files than those of an earlier world.
    """
    refuse_others(out, MARK)
    files: dict[str, str] = {}
    rows: dict[str, dict[str, int]] = {}
    of_rows = ["task,split,row,degree\n"]
    forbidden: set[str] = set()
    for name, task in WORLD_TASKS.items():
        train = settings.rows.get(name) or max(6, round(task.rows * settings.scale))
        degrees = settings.degrees.shares(), settings.reported.shares()
        splits = make_splits(settings.seed, name, train, settings.report, *degrees)
        rows[name] = {split: len(part) for split, part in splits.items()}
        files |= task.write(splits)
        for split, part in splits.items():
            of_rows += [f"{name},{split},{i},{row.degree}\n" for i, row in enumerate(part)]
        forbidden |= forbidden_texts(name, splits)
    files[PATH] = write_cloze(Draw(settings.seed, "cloze"), settings)
    files[MARK] = "".join(of_rows)
    length = max(50, settings.words // settings.books)
    for number in range(settings.books):
        draw = Draw(settings.seed, f"book/{number}", degrees=settings.book_degrees.shares())
        book = write_book(draw, number, length, settings.shares(), forbidden)
        files[f"books/book{number:03d}.txt"] = book
    tops = sorted({path.partition("/")[0] for path in files}, key=lambda top: top != MARK)
    listed = read(out, "give another folder")["files"] if (out / NAME).exists() else {}
    shapes = {re.sub(r"\d+", "0", path) for path in files}  # of a world of another size
    for file in (file for top in tops for file in (out / top).rglob("*") if file.is_file()):
        there = file.relative_to(out).as_posix()
        if there not in listed if listed else re.sub(r"\d+", "0", there) not in shapes:
            raise InputError(f"{file}: not of the earlier world; move it elsewhere")
    (out / NAME).unlink(missing_ok=True)
    with scratch_folder(out / "files") as scratch:  # in one go: RACE alone has thousands
        for path, text in files.items():
            with writing(scratch / path):
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / path).write_text(text, encoding="utf-8", newline="\n")
        for top in tops:
            shutil.rmtree(out / top, ignore_errors=True)
            (scratch / top).replace(out / top)
    manifest = {"settings": settings.model_dump(), "rows": rows, "files": describe(out, files)}
    write_json(out / NAME, manifest)
    return manifest


def main() -> None:
    """Command line, see the module's docstring."""
    parser = argparse.ArgumentParser(description="Write the synthetic world's books and tasks.")
    parser.add_argument(
        "--settings", type=WorldSettings.parse, default="{}", help="JSON of WorldSettings"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    args = parser.parse_args()
    manifest = make_world(args.settings, args.out)
    n = sum(sum(splits.values()) for splits in manifest["rows"].values())
    print(f"world: {args.settings.books} books, {n} rows of {len(WORLD_TASKS)} tasks")
