"""The same rows written in a task's original layout and in the hub's, full of traps."""

import shutil
from pathlib import Path
from typing import Any

from tasks import TASKS, task
from tasks.world.draw import Row
from tasks.world.tasks import WORLD_TASKS
from tests.tasks.hub_files import PIN, snapshot

# A quote that is never closed, separators that end no row, letters beyond ASCII, blanks at an end.
TEXTS = (
    '"An open quote',
    'he said "no',
    "a\u2028b\x85c\x0bd",
    "a\rb",
    "naïve Ωmega – “curly” 日本",
    " blanks around \xa0",
    "''twice''",
    "\\N",
    "NA",
    "#1",
)
GLUE = [each.name for each in TASKS if each.hub.repo == "nyu-mll/glue"]
WORDS = {  # of the labels in the original files, where the tasks have others as well
    "scitail": ("neutral", "entails"),
    "stsb": ("0.000", "1.53333333333333", "2.600", "3.8", "4.444", "5.000"),
}


def word(name: str, k: int) -> str:
    """A label as the original files have it."""
    words = WORDS.get(name, tuple(task(name).coding) or task(name).labels)
    return words[k]


def rows(name: str, split: str) -> list[tuple[Row, Any]]:
    """Rows that are no other split's, each with its label on the hub."""
    if name == "race":
        return [
            (Row(f"{TEXTS[n % 7]}\n\n{split} {n}", f"{TEXTS[k]} ?", label, options, group), label)
            for n, group in enumerate(["middle"] * 11 + ["high"] * 11)
            for k, label in enumerate(("DAB", "CBD")[n % 2])
            for options in [tuple(f"{TEXTS[j]} {k}" for j in range(4))]
        ]
    if name == "dprd":
        saw = "The {0} cat saw the dog because it was big {1} {2}."
        return [
            (Row(saw.format(w, split, k), "it", str(k % 2), (f"The {w} cat", "the dog")), k % 2)
            for k, w in enumerate(("naïve", '"odd', "a\u2028b", "plain"))
        ]
    own, values = "" if split == "train" else split, [*task(name).hub.labels]
    texts = [text[:2] + own + text[2:] for text in TEXTS]
    n = len(task(name).labels)
    found: list[tuple[Row, Any]] = []
    for k, text in enumerate(texts):
        label = word(name, k % n)
        row = Row(text, texts[-1 - k], label)
        found.append((row, values[k % n] if values else float(label)))
    if name == "snli":  # where a tab and a line end are text; every fourth row has no gold label
        found.append((Row("tab\there", "line\nend", "contradiction"), 2))
        found[3::4] = [(Row(row.first, row.second, "-"), -1) for row, _ in found[3::4]]
    return found


def hub_rows(name: str, split: str) -> list[list[dict]]:
    """The same rows in two files, over which `idx` goes on; RACE's articles in another order."""
    source, found = task(name).hub, []
    for k, (row, label) in enumerate(rows(name, split)):
        label = -1 if split in source.unlabelled else label
        texts = (row.first, row.second, [*row.choices])[: len(source.texts)]
        record = dict(zip(source.texts, texts, strict=True))
        record |= {source.label: label, "example_id": f"{row.group}{k // 3}.txt", "idx": k}
        found.append(record)
    if name == "race":
        articles = [found[k : k + 3] for k in range(0, len(found), 3)]
        return [sum(articles[10::-1], []), sum(articles[:10:-1], [])]
    return [found[:6], found[6:]] if name in (*GLUE, "snli") else [found]


def put(path: Path, text: str) -> None:
    """A file of this text, whose line ends stay as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def tsv(path: Path, lines: list[list[str]]) -> None:
    """A table as published."""
    put(path, "".join("\t".join(line) + "\n" for line in lines))


def glue_original(folder: Path, name: str, split: str) -> None:
    """A table of GLUE, also of a task that the world does not have."""
    table, made = task(name).table, [row for row, _ in rows(name, split)]
    header = list(table.names) or ["index", *filter(None, (table.first, table.second, table.label))]
    cells = [{table.second: r.second, table.first: r.first, table.label: r.label} for r in made]
    lines = [[of.get(column, str(k)) for column in header] for k, of in enumerate(cells)]
    tsv(folder / f"{split}.tsv", lines if table.names else [header, *lines])


def write_original(
    folder: Path, name: str, splits: dict[str, list[Row]], crlf: tuple[str, ...] = ()
) -> None:
    """The files of a task of the world; those whose names end with one of `crlf` have CRLF."""
    for path, text in WORLD_TASKS[name].write({"test": [], **splits}).items():
        is_crlf = name == "mrpc" or path.endswith(crlf)
        put(folder / path.partition("/")[2], text.replace("\n", "\r\n" if is_crlf else "\n"))


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Both layouts of a task from the same rows: (original, hub)."""
    original, hub, splits = folder / "original", folder / "hub", list(task(name).rows)
    if name in WORLD_TASKS:
        made = {split: [row for row, _ in rows(name, split)] for split in splits}
        write_original(original, name, made, crlf=("dev.tsv", "test.tsv", ".c.txt"))
    for split in splits if name not in WORLD_TASKS else ():
        glue_original(original, name, split)
    if name == "scitail":
        shutil.rmtree(original / "snli_format")
    if name == "dprd":  # an item of the published test file has a blank after the comma
        path = original / "test.c.txt"
        path.write_bytes(path.read_bytes().replace(b",the dog", b", the dog", 2))
    snapshot(hub, name, {split: hub_rows(name, split) for split in splits})
    return original, hub


def pin(name: str) -> str | None:
    return None if task(name).hub.revision else PIN
