"""A data card for each task: what its rows are, how long, from where, and three of them.

    python -m workflow.analysis.cards --results R --settings JSON --out R/data_cards.md

Writes `R/cards/TASK` as JSON, Markdown, a page for the report (HTML) and a figure (PNG, SVG), and
all cards as one Markdown file. A length is that of the whole input as it is fine-tuned, in tokens:
all its texts (of a choice the longest), with the start, delimiter and classify tokens.
"""

import argparse
import re
import sys
from base64 import b64encode
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from markdown_it import MarkdownIt

import tasks
from gpt1.training.encoded import EncodedSplit, load
from tasks.catalogue import entry
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, write_atomic, write_json
from tasks.examples import read_examples
from workflow.analysis.figures import card as figure
from workflow.analysis.figures import style
from workflow.analysis.output import markdown, read_settings

SHOWN = 3  # examples
SHORT = 160  # characters of a text
PAGE = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse }} td, th {{ padding: .2em .7em; border-bottom: 1px solid #ddd }}
img {{ max-width: 100% }}</style>
{body}"""


def card(results: Path, name: str, n_ctx: int) -> dict[str, Any]:
    """All that is said of one task. Raises InputError for a file that is missing or damaged."""
    task, about = tasks.task(name), entry(name)
    meta = read_json(results / "examples" / f"{name}.json")
    encoded = load(results / "encoded" / f"{name}.npz")
    if {split: len(part) for split, part in encoded.splits.items()} != meta["rows"]:
        raise InputError(
            f"{results}/encoded/{name}.npz: its rows are not those of examples/{name}.json; "
            "encode the task again"
        )
    found = {split: lengths(task.family, part) for split, part in encoded.splits.items()}
    edges = bins(np.concatenate(list(found.values())))
    made = not meta["settings"]["published"]
    return {
        **{"task": name, "title": task.title, "family": task.family, "n_ctx": n_ctx},
        "licence": "none needed: made by the embedded world" if made else about.licence,
        "caution": "" if made else about.caution,
        "origin": meta["origin"] if not made else {"source": "embedded world"},
        "sources": meta["sources"],
        **{key: meta[key] for key in ("train_from", "select_from", "dropped", "overlap", "note")},
        "edges": edges.tolist(),
        "splits": {
            split: {
                "rows": meta["rows"][split],
                "labels": {label: meta["labels"][split][label] for label in task.labels},
                "tokens": _spread(found[split]),
                "truncated": float(truncated(task.family, part, n_ctx).mean()),
                "histogram": np.histogram(found[split].clip(max=edges[-1]), edges)[0].tolist(),
            }
            for split, part in encoded.splits.items()
        },
        "examples": _examples(results / "examples" / f"{name}.jsonl", task),
    }


def lengths(family: str, split: EncodedSplit) -> np.ndarray:
    """Tokens [n] of each whole input, special tokens included and nothing cut off."""
    first, second, choice = _parts(split)
    return first + second + choice + (2 if family == "classification" else 3)


def truncated(family: str, split: EncodedSplit, n_ctx: int) -> np.ndarray:
    """Whether [n] an input loses tokens in a window of `n_ctx`: as `gpt1.training.batching` cuts
    it.
    """
    first, second, choice = _parts(split)
    side = n_ctx // 2 - 2
    if family == "classification":
        return first > n_ctx - 2
    if family != "choice":
        return (first > side) | (second > side)
    whole = first + second + choice + 3
    asked = (second > side) | (choice > side) | (whole > n_ctx)
    return np.where(second > 0, asked, (first > side) | (choice > side))


def _parts(split: EncodedSplit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tokens [n] of the first text, the second and the longest choice."""
    first = np.array([len(ids) for ids in split.first])
    second = np.array([len(ids) for ids in split.second])
    return first, second, np.array([max(map(len, each), default=0) for each in split.choices])


def bins(found: np.ndarray) -> np.ndarray:
    """Edges of about forty bins of whole tokens; the last takes the longest hundredth as well."""
    top = int(np.percentile(found, 99)) + 1
    width = max(1, -(-top // 40))
    return np.arange(0, top + 2 * width, width)


def _spread(found: np.ndarray) -> dict[str, float]:
    low, middle, high = np.percentile(found, (5, 50, 95))
    return {
        **{"shortest": int(found.min()), "p5": float(low), "median": float(middle)},
        **{"mean": round(float(found.mean()), 2), "p95": float(high), "longest": int(found.max())},
    }


def _examples(path: Path, task: tasks.Task) -> list[dict[str, Any]]:
    """The first training row of each label, then the next ones, texts shortened."""
    rows = [row for row in read_examples(path) if row.split == "train"]
    first = {row.label: row for row in reversed(rows)}
    one_each = sorted(first.values(), key=rows.index)[:SHOWN]
    more = (row for row in rows if row not in one_each)
    return [
        {
            **{"guid": row.guid, "first": _short(row.first), "second": _short(row.second)},
            "choices": [_short(choice) for choice in row.choices],
            "label": row.label if task.soft_labels else task.labels[int(row.label)],
        }
        for row in [*one_each, *islice(more, SHOWN - len(one_each))]
    ]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHORT else text[: SHORT - 2].rstrip() + " …"


def page(found: dict[str, Any], picture: str) -> str:
    """One card as Markdown; `picture` is the path of its figure from there."""
    labels = list(next(iter(found["splits"].values()))["labels"])
    head = ["split", "rows", *labels, "tokens: median", "95 %", "longest", "truncated"]
    rows = []
    for split, part in found["splits"].items():
        tokens, total = part["tokens"], part["rows"]
        shares = [f"{part['labels'][label] / total:.1%}" for label in labels]
        spread = [f"{tokens['median']:.0f}", f"{tokens['p95']:.0f}", f"{tokens['longest']:,}"]
        rows.append([split, f"{total:,}", *shares, *spread, f"{part['truncated']:.1%}"])
    facts = [f"From: {_origin(found)}.", f"Licence: {found['licence']}."]
    facts += [f"Caution: {found['caution']}."] if found["caution"] else []
    facts += [f"Rows: {found['note']}."] if found["note"] else []
    facts += [f"Dropped: {_counts(found['dropped'])}."] if found["dropped"] else []
    twice = {split: count for split, count in found["overlap"].items() if count}
    facts += (
        [f"Rows that are training rows too, before any limit: {_pairs(twice)}."] if twice else []
    )
    side = found["n_ctx"] // 2 - 2
    shown = [_shown(number, row) for number, row in enumerate(found["examples"], start=1)]
    return "\n\n".join(
        [
            f"## {found['title']}",
            "\n".join(f"- {fact}" for fact in facts),
            markdown(head, rows),
            f"A window holds {found['n_ctx']} tokens"
            + ("" if found["family"] == "classification" else f", a text of a pair {side} of them")
            + "; what is longer is truncated.",
            f"![Token lengths and labels of {found['title']}]({picture})",
            "\n".join(shown),
        ]
    )


def _origin(found: dict[str, Any]) -> str:
    origin = found["origin"]
    if origin["source"] == "hub":
        where = f"{origin['repo']} ({origin['config']})"
        return f"the hub's {where} at commit {origin['revision']}"
    if origin["source"] == "embedded world":
        return "the embedded world"
    files = {path: digest for part in found["sources"].values() for path, digest in part.items()}
    told = ", ".join(f"{path} (sha256 {digest[:12]})" for path, digest in files.items())
    return f"files in their original layout: {told}"


def _shown(number: int, row: dict[str, Any]) -> str:
    texts = [_literal(text) for text in (row["first"], row["second"]) if text]
    right = row["label"]
    choices = " / ".join(_literal(choice) for choice in row["choices"])
    return f"{number}. {' — '.join(texts)}{f' — {choices}' if choices else ''} → **{right}**"


def _literal(text: str) -> str:
    """A text as a code span, shown as it is; its marks are longer than any in the text."""
    marks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{marks} {text} {marks}" if "`" in text else f"{marks}{text}{marks}"


def _counts(dropped: dict[str, dict[str, int]]) -> str:
    return "; ".join(f"{split}: {_pairs(counts)}" for split, counts in dropped.items())


def _pairs(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def write(results: Path, found: dict[str, Any]) -> None:
    """A card's files under `results/cards`."""
    stem = results / "cards" / found["task"]
    write_json(stem.with_suffix(".json"), found)
    style.save(lambda: figure.draw(found), stem.with_suffix(".png"))
    text = page(found, f"{found['task']}.png")
    with write_atomic(stem.with_suffix(".md")) as file:
        file.write(text + "\n")
    picture = b64encode(stem.with_suffix(".png").read_bytes()).decode()
    body = MarkdownIt().enable("table").render(text)
    body = body.replace(f'src="{found["task"]}.png"', f'src="data:image/png;base64,{picture}"')
    with write_atomic(stem.with_suffix(".html")) as file:
        file.write(PAGE.format(title=found["title"], body=body))


def main() -> None:
    parser = argparse.ArgumentParser(description="a data card for each task")
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    parser.add_argument("--settings", required=True, help='JSON: {"tasks": [..], "n_ctx": 512}')
    parser.add_argument("--out", type=Path, required=True, help="the page of all cards to write")
    given = parser.parse_args()
    settings = read_settings(given.settings)
    pages = ["# Data cards"]
    for name in settings["tasks"]:
        found = card(given.results, name, settings["n_ctx"])
        write(given.results, found)
        pages.append(page(found, f"cards/{name}.png"))
    with write_atomic(given.out) as file:
        file.write("\n\n".join(pages) + "\n")


if __name__ == "__main__":
    sys.exit(run(main))
