"""A data card for each task: what its rows are, how long, from where, and three of them.

    python -m workflow.analysis.cards --results R --grid JSON --n-ctx N --out R/data_cards.md

Writes `R/cards/TASK` as Markdown and a figure (PNG, SVG, PDF), and all cards as one Markdown file.
"""

import re
import sys
from functools import partial
from typing import Any

from tasks.common.errors import importing, run

with importing(__name__):
    import numpy as np
    import pandas as pd

    from tasks.common.files import write_atomic
    from workflow.analysis import card_figure, markdown
    from workflow.analysis.card import Card
    from workflow.analysis.figures import style
    from workflow.analysis.program import parser

SHORT = 160  # characters of a text


def page(card: Card, picture: str) -> str:
    """One card as Markdown; `picture` is the path of its figure from there."""
    title, side = card.task.title, card.n_ctx // 2 - 2
    of_pair = "" if card.task.family == "classification" else f", a text of a pair {side} of them"
    parts = [
        f"## {title}",
        "\n".join(f"- {name}: {fact}." for name, fact in facts(card).items() if fact),
        markdown.render(_rows(card)),
        f"A window holds {card.n_ctx} tokens{of_pair}; what is longer is truncated.",
        f"![Token lengths and labels of {title}]({picture})",
        "\n".join(f"{i}. {_example(card, row)}" for i, row in enumerate(card.examples, start=1)),
    ]
    return "\n\n".join(parts)


def facts(card: Card) -> dict[str, str]:
    """What a card says of the task's data, by name; "" where there is nothing to say."""
    facts, hub = card.facts, card.task.hub
    dropped = (f"{split}: {_counts(counts)}" for split, counts in facts.dropped.items())
    return {
        "From": _origin(card),
        "Licence": _licence(card),
        "Caution": hub.caution if facts.published else "",
        "Rows": facts.note,
        "Dropped": "; ".join(dropped),
        "Rows whose CSV quoting was undone": _counts(facts.unquoted),
        "Rows that are training rows too, before any limit": _counts(facts.overlap),
        "Rows with a text of a training row": _counts(facts.half_known),
    }


def _rows(card: Card) -> pd.DataFrame:
    """A line of text for each split."""
    lines = {
        split: {
            "rows": f"{len(lengths):,}",
            **{label: f"{share:.1%}" for label, share in card.shares(split).items()},
            "tokens: median": f"{np.median(lengths):.0f}",
            "95 %": f"{np.percentile(lengths, 95):.0f}",
            "longest": f"{lengths.max():,}",
            "truncated": f"{card.truncated[split]:.1%}",
        }
        for split, lengths in card.lengths.items()
    }
    return pd.DataFrame(lines).T.rename_axis("split")


def _origin(card: Card) -> str:
    origin = card.facts.origin
    if card.is_synthetic:
        return "the embedded world"
    if origin["source"] == "hub":
        where = f"{origin['repo']} ({origin['config']})"
        return f"the hub's {where} at commit {origin['revision']}"
    files: dict[str, str] = {}
    for split, of_split in card.facts.sources.items():
        files |= {} if split in card.facts.unlabelled else of_split
    listed = ", ".join(f"{path} (sha256 {digest[:12]})" for path, digest in files.items())
    layout = f"the layout of {card.task.title}" if card.facts.own else "their original layout"
    return f"files in {layout}: {listed}"


def _licence(card: Card) -> str:
    if card.is_synthetic:
        return "none needed: made by the embedded world"
    return "yours to state" if card.facts.own else card.task.hub.licence


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def _example(card: Card, row: dict[str, Any]) -> str:
    texts = [_literal(row[key]) for key in ("first", "second") if row[key]]
    if row["choices"]:
        texts.append(" / ".join(map(_literal, row["choices"])))
    task, label = card.task, row["label"]
    named = label if task.soft_labels else task.labels[int(label)]
    return f"{' — '.join(texts)} → **{named}**"


def _literal(text: str) -> str:
    """A text, shortened, as a code span that shows it as it is: its marks outdo those in it."""
    text = " ".join(text.split())
    text = text if len(text) <= SHORT else text[: SHORT - 2].rstrip() + " …"
    marks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{marks} {text} {marks}" if "`" in text else f"{marks}{text}{marks}"


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    arguments = parser("a data card for each task")
    arguments.add_argument("--n-ctx", type=int, required=True, help="the model's window, in tokens")
    args = arguments.parse_args(argv)
    pages = ["# Data cards"]
    for name in args.grid.examples:
        card, stem = Card.read(args.results, name, args.n_ctx), args.results / "cards" / name
        style.save(partial(card_figure.draw, card), stem.with_suffix(".png"))
        with write_atomic(stem.with_suffix(".md")) as file:
            file.write(page(card, f"{name}.png") + "\n")
        pages.append(page(card, f"cards/{name}.png"))
    with write_atomic(args.out) as file:
        file.write("\n\n".join(pages) + "\n")


if __name__ == "__main__":
    sys.exit(run(main))
