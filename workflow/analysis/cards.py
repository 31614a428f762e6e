"""A data card for each task: what its rows are, how long, from where, and three of them.

    python -m workflow.analysis.cards --results R --grid JSON --n-ctx N --out R/data_cards.md

Writes `R/cards/TASK` as JSON, Markdown, a page for the report (HTML) and a figure (PNG, SVG), and
all cards as one Markdown file. A length is that of the whole input as it is fine-tuned, in tokens:
all its texts (of several choices the longest), with the start, delimiter and classify tokens.
"""

import re
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

from tasks.common.errors import importing, run

with importing(__name__):
    import numpy as np
    import pandas as pd
    from markdown_it import MarkdownIt

    import tasks
    from tasks.common.arrow import read_split
    from tasks.common.files import read_json, write_atomic, write_json
    from workflow.analysis import card_figure, markdown
    from workflow.analysis.figures import style
    from workflow.analysis.program import parser
    from workflow.analysis.records import EncodedRecord, check_examples

SHOWN = 3  # examples
SHORT = 160  # characters of a text
PAGE = """<!doctype html><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
table {{ border-collapse: collapse }} td, th {{ padding: .2em .7em; border-bottom: 1px solid #ddd }}
img {{ max-width: 100% }}</style>
{body}"""


def card(results: Path, name: str, n_ctx: int) -> dict[str, Any]:
    """All that is said of one task. Raises InputError for a file that is missing or damaged."""
    task = tasks.task(name)
    facts = results / "examples" / f"{name}.json"
    meta = read_json(facts)
    path = results / "encoded" / f"{name}.json"
    splits = EncodedRecord.read(path).splits
    encoded = {
        name: splits[name] for name in ("train", "select", *meta["report"]) if name in splits
    }
    digests = {split: part.examples for split, part in encoded.items()}
    check_examples(path, digests, facts, meta["sha256"])
    lengths = {split: _values(part.lengths) for split, part in encoded.items()}
    edges = bins(np.concatenate(list(lengths.values())))
    made = not meta["settings"]["published"]
    return {
        **{"task": name, "title": task.title, "family": task.family, "n_ctx": n_ctx},
        "licence": "none needed: made by the embedded world" if made else task.hub.licence,
        "caution": "" if made else task.hub.caution,
        "origin": meta["origin"] if not made else {"source": "embedded world"},
        "sources": {s: of for s, of in meta["sources"].items() if s not in meta["unlabelled"]},
        **{key: meta[key] for key in ("train_from", "select_from", "dropped", "unquoted")},
        **{key: meta[key] for key in ("overlap", "half_known", "note")},
        "edges": edges.tolist(),
        "splits": {
            split: {
                "rows": meta["rows"][split],
                "labels": {label: meta["labels"][split][label] for label in task.labels},
                "tokens": _spread(lengths[split]),
                "truncated": float((_values(part.n_ctx_needed) > n_ctx).mean()),
                "histogram": np.histogram(lengths[split].clip(max=edges[-1]), edges)[0].tolist(),
            }
            for split, part in encoded.items()
        },
        "examples": _examples(results / "examples" / name, task),
    }


def _values(counts: dict[str, int]) -> np.ndarray:
    """The values [n], sorted, that `counts` says how often there are."""
    return np.sort(np.repeat([int(value) for value in counts], list(counts.values())))


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


def _examples(folder: Path, task: tasks.Task) -> list[dict[str, Any]]:
    """The first training row of each label, then the next ones, texts shortened."""
    table = read_split(folder, "train")
    again = table["label"].to_pandas().duplicated()
    rows = table.take(again.sort_values(kind="stable").index[:SHOWN].to_list()).to_pylist()
    return [
        {
            **{"guid": row["guid"], "first": _short(row["first"]), "second": _short(row["second"])},
            "choices": [_short(choice) for choice in row["choices"]],
            "label": row["label"] if task.soft_labels else task.labels[int(row["label"])],
        }
        for row in rows
    ]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHORT else text[: SHORT - 2].rstrip() + " …"


def page(found: dict[str, Any], picture: str) -> str:
    """One card as Markdown; `picture` is the path of its figure from there."""
    lines = []
    for split, part in found["splits"].items():
        tokens, total = part["tokens"], part["rows"]
        lines.append(
            {
                **{"split": split, "rows": f"{total:,}"},
                **{label: f"{count / total:.1%}" for label, count in part["labels"].items()},
                **{"tokens: median": f"{tokens['median']:.0f}", "95 %": f"{tokens['p95']:.0f}"},
                **{"longest": f"{tokens['longest']:,}", "truncated": f"{part['truncated']:.1%}"},
            }
        )
    rows = pd.DataFrame(lines).set_index("split")
    facts = [f"From: {_origin(found)}.", f"Licence: {found['licence']}."]
    facts += [f"Caution: {found['caution']}."] if found["caution"] else []
    facts += [f"Rows: {found['note']}."] if found["note"] else []
    facts += [f"Dropped: {_counts(found['dropped'])}."] if found["dropped"] else []
    mended = _pairs(found["unquoted"])
    facts += [f"Rows whose CSV quoting was undone: {mended}."] if mended else []
    twice = {split: count for split, count in found["overlap"].items() if count}
    facts += (
        [f"Rows that are training rows too, before any limit: {_pairs(twice)}."] if twice else []
    )
    half = {split: count for split, count in found["half_known"].items() if count}
    facts += [f"Rows with a text of a training row: {_pairs(half)}."] if half else []
    side = found["n_ctx"] // 2 - 2
    shown = [_shown(number, row) for number, row in enumerate(found["examples"], start=1)]
    return "\n\n".join(
        [
            f"## {found['title']}",
            "\n".join(f"- {fact}" for fact in facts),
            markdown.render(rows),
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
    listed = ", ".join(f"{path} (sha256 {digest[:12]})" for path, digest in files.items())
    return f"files in their original layout: {listed}"


def _shown(number: int, row: dict[str, Any]) -> str:
    texts = [_literal(text) for text in (row["first"], row["second"]) if text]
    choices = " / ".join(_literal(choice) for choice in row["choices"])
    texts += [choices] if choices else []
    return f"{number}. {' — '.join(texts)} → **{row['label']}**"


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
    style.save(lambda: card_figure.draw(found), stem.with_suffix(".png"))
    with write_atomic(stem.with_suffix(".md")) as file:
        file.write(page(found, f"{found['task']}.png") + "\n")
    picture = b64encode(stem.with_suffix(".png").read_bytes()).decode()
    text = page(found, f"data:image/png;base64,{picture}")
    body = MarkdownIt().enable("table").render(text)
    with write_atomic(stem.with_suffix(".html")) as file:
        file.write(PAGE.format(title=found["title"], body=body))


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    arguments = parser("a data card for each task")
    arguments.add_argument("--n-ctx", type=int, required=True, help="the model's window, in tokens")
    args = arguments.parse_args(argv)
    pages = ["# Data cards"]
    for name in args.grid.examples:
        found = card(args.results, name, args.n_ctx)
        write(args.results, found)
        pages.append(page(found, f"cards/{name}.png"))
    with write_atomic(args.out) as file:
        file.write("\n\n".join(pages) + "\n")


if __name__ == "__main__":
    sys.exit(run(main))
