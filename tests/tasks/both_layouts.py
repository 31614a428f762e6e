"""The same rows written in a task's original layout and in the hub's, full of traps."""

import json
from pathlib import Path

from tasks import TASKS, task
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
SPLITS = {"snli": ("train", "dev", "test"), "scitail": ("train", "dev", "test")}
Pair = tuple[str, str, int]


def pairs(name: str, split: str) -> list[Pair]:
    """Ten rows of two texts and a class; those of a split are no other's."""
    n = len(task(name).labels)
    own = "" if split == "train" else split
    texts = [text[:2] + own + text[2:] for text in TEXTS]
    return [(text, texts[-1 - k], k % n) for k, text in enumerate(texts)]


def put(path: Path, text: str) -> None:
    """A file of this text, whose line ends stay as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def tsv(path: Path, rows: list[list[str]], bom: bool = False, crlf: bool = False) -> None:
    """A table as published, some with a byte order mark or CRLF."""
    end = "\r\n" if crlf else "\n"
    put(path, ("\ufeff" if bom else "") + "".join("\t".join(row) + end for row in rows))


def glue_word(name: str, k: int) -> str:
    """A label as GLUE's own files have it."""
    if name == "stsb":
        return ("0.000", "1.53333333333333", "2.600", "3.8", "4.444", "5.000")[k]
    return next((w for w, i in task(name).coding.items() if i == k), task(name).labels[k])


def glue_original(
    folder: Path, name: str, split: str, bom: bool = False, crlf: bool = False
) -> None:
    each, rows = task(name), []
    parse = each.table
    read = filter(None, (parse.first, parse.second, parse.label))
    header = list(parse.names) or ["index", *read]
    for k, (first, second, label) in enumerate(pairs(name, split)):
        cells = {parse.first: first, parse.label: glue_word(name, label)}
        cells |= {parse.second: second} if parse.second else {}
        rows.append([cells.get(column, str(k)) for column in header])
    tsv(folder / f"{split}.tsv", [*([] if parse.names else [header]), *rows], bom, crlf)


def glue_hub(name: str, split: str) -> list[list[dict]]:
    """The same rows in two files; `idx` goes on over both. MRPC's counts otherwise."""
    texts = [column for column in task(name).hub.columns if column not in ("label", "idx")]
    rows = [
        dict(zip(texts, (first, second)[: len(texts)], strict=True))
        | {"label": float(glue_word(name, label)) if name == "stsb" else label}
        | {"idx": 2 * k + 1 if name == "mrpc" else k}
        for k, (first, second, label) in enumerate(pairs(name, split))
    ]
    return [rows[:6], rows[6:]]


def json_original(path: Path, rows: list[dict]) -> None:
    put(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_snli(original: Path, hub: Path) -> None:
    words = ("entailment", "neutral", "contradiction")
    splits = {}
    for split in SPLITS["snli"]:
        # A tab and a line end are text in JSON; every fourth row has no gold label.
        rows = [*pairs("snli", split), ("tab\there", "line\nend", 2)]
        labels = [-1 if k % 4 == 3 else label for k, (_, _, label) in enumerate(rows)]
        texts = [{"sentence1": a, "sentence2": b} for a, b, _ in rows]
        gold = [{"gold_label": "-" if k < 0 else words[k]} for k in labels]
        lines = [text | word for text, word in zip(texts, gold, strict=True)]
        json_original(original / f"snli_1.0_{split}.jsonl", lines)
        hub_rows = [
            {"premise": a, "hypothesis": b, "label": k}
            for (a, b, _), k in zip(rows, labels, strict=True)
        ]
        splits[split] = [hub_rows[:5], hub_rows[5:]]
    snapshot(hub, "snli", splits)


def write_scitail(original: Path, hub: Path) -> None:
    splits = {}
    for split in SPLITS["scitail"]:
        words = ("neutral", "entails")
        rows = [[a, b, words[k]] for a, b, k in pairs("scitail", split)]
        tsv(original / "tsv_format" / f"scitail_1.0_{split}.tsv", rows, bom=False, crlf=True)
        splits[split] = [
            [
                {"sentence1": a, "sentence2": b, "gold_label": w.replace("entails", "entailment")}
                for a, b, w in rows
            ]
        ]
    snapshot(hub, "scitail", splits)


def write_race(original: Path, hub: Path) -> None:
    splits = {}
    for split in ("train", "dev", "test"):
        schools = {"middle": [], "high": []}
        for school, rows in schools.items():
            for number in (10, 9, 1):  # the hub's order is no one's
                asked = [f"{text} ?" for text in TEXTS[:3]]
                options = [[f"{TEXTS[j]} {k}" for j in range(4)] for k in range(3)]
                article = f"{TEXTS[number % 7]}\n\n{split} {school} {number}"
                answers = ["D", "A", "B"]
                record = {"article": article, "questions": asked, "options": options}
                record |= {"answers": answers, "id": f"{school}{number}.txt"}
                put(original / split / school / f"{number}.txt", json.dumps(record))
                rows += [
                    {
                        **{"example_id": f"{school}{number}.txt", "article": article},
                        **{"question": asked[k], "options": options[k], "answer": answers[k]},
                    }
                    for k in range(3)
                ]
        splits[split] = [schools["middle"], schools["high"]]
    snapshot(hub, "race", splits)


def write_dprd(original: Path, hub: Path) -> None:
    splits = {}
    for split in ("train", "test"):
        rows, text = [], ""
        for k, word in enumerate(("naïve", '"odd', "a\u2028b", "plain")):
            candidates = [f"The {word} cat", "the dog"]
            sentence = f"{candidates[0]} saw {candidates[1]} because it was big {split} {k}."
            comma = ", " if k == 1 else ","
            text += f"{sentence}\r\nit\r\n{comma.join(candidates)}\r\n{candidates[k % 2]}\r\n\r\n"
            row = {"sentence": sentence, "pronoun": "it", "candidates": candidates}
            rows.append(row | {"label": k % 2})
        put(original / f"{split}.c.txt", text)
        splits[split] = [rows]
    snapshot(hub, "dprd", splits)


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Both layouts of a task from the same rows: (original, hub)."""
    original, hub = folder / "original", folder / "hub"
    if name in GLUE:
        splits = list(task(name).rows)
        for split in splits:
            glue_original(original, name, split, bom=name in ("mrpc", "rte"), crlf=split == "dev")
        snapshot(hub, name, {split: glue_hub(name, split) for split in splits})
    else:
        writers = {"snli": write_snli, "scitail": write_scitail, "race": write_race}
        (writers | {"dprd": write_dprd})[name](original, hub)
    return original, hub


def pin(name: str) -> str | None:
    return None if task(name).hub.revision else PIN
