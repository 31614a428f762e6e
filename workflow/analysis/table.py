"""A table of the analysis: a tidy CSV, one number a row, and Markdown beside it.

In the CSV what was not run is empty, with 0 seeds; in the Markdown it reads `missing`.
"""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tasks.common.errors import InputError
from tasks.common.files import sha256_file, write_atomic
from workflow.analysis import markdown

COLUMNS = [  # of every table, where they apply; a table's own columns come after them
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "corpus"),
    *("seed", "score", "n_seeds", "mean", "sd"),
    *("ci_low", "ci_high", "paper", "majority", "bag_of_words", "train_tokens", "train_seconds"),
    *("peak_mb", "alarms", "note"),
]
DECIMALS = {
    **dict.fromkeys(["mean", "sd", "ci_low", "ci_high", "majority", "bag_of_words"], 4),
    **dict.fromkeys(["diff", "diff_low", "diff_high"], 4),
    **dict.fromkeys(["decontaminated_mean", "decontaminated_sd"], 4),
    **dict.fromkeys(["share_tokens", "share_words", "short_tokens", "short_words"], 4),
    **{"train_seconds": 2, "seconds": 2, "peak_mb": 1, "threshold": 6, "low": 4, "high": 4},
    **dict.fromkeys(["relative", "relative_low", "relative_high"], 6),
    **{"heldout_loss": 6, "train_loss": 6, "accuracy": 4, "chance": 4},
}
COUNTS = [
    "n_seeds",
    "train_rows",
    "train_tokens",
    "tokens",
    "update",
    "n",
    "rows",
    "decontaminated_rows",
]
NUMBERS = {*DECIMALS, *COUNTS, "seed", "score", "paper"}  # a table's own columns may be text
TEXT = [
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "corpus"),
    *("alarms", "note"),
    *("table", "column", "source", "skill"),
]


DIGEST = "<!-- sha256 of {}: {} -->"  # the last line of the Markdown, of the CSV beside it
OF_TEXT = "<!-- sha256 of the text above: {} -->"  # the line before it


@dataclass(frozen=True)
class Table:
    """A tidy `frame`, and the `parts` of its Markdown: paragraphs, and frames of text.

    `decimals` are those of the numbers in the CSV, so that its bytes are stable.
    """

    frame: pd.DataFrame
    parts: list[str | pd.DataFrame]
    decimals: dict[str, int] = field(default_factory=lambda: DECIMALS)

    @property
    def markdown(self) -> str:
        """The table in wide form, for reading."""
        return "\n\n".join(
            part if isinstance(part, str) else markdown.render(part) for part in self.parts
        )

    def write(self, path: Path) -> None:
        """Write the CSV to `path` and the Markdown beside it."""
        text = self.markdown
        with write_atomic(path) as file:
            self._rounded().to_csv(file, index=False, lineterminator="\n")
        checksum = DIGEST.format(path.name, sha256_file(path))
        with write_atomic(path.with_suffix(".md")) as file:
            text = f"{text.rstrip()}\n\n"
            file.write(f"{text}{OF_TEXT.format(_sha256(text))}\n{checksum}\n")

    def _rounded(self) -> pd.DataFrame:
        frame, first = self.frame, [name for name in COLUMNS if name in self.frame]
        frame = frame[first + [name for name in frame if name not in first]]
        frame = frame.round({name: n for name, n in self.decimals.items() if name in frame})
        counts = {name: frame[name].astype(float).round() for name in COUNTS if name in frame}
        return frame.assign(**{name: count.astype("Int64") for name, count in counts.items()})


def read_csv(path: Path) -> pd.DataFrame:
    """A tidy table as it was written; `n_transfer` stays text because of `none`.

    Raises InputError if the file is missing, truncated, not such a table, or not the one that the
    Markdown beside it was made with, or if that was changed.
    """
    remedy = "delete it and make it again"
    try:
        if not Path(path).read_bytes().endswith(b"\n"):
            raise InputError(f"{path}: truncated, its last line has no end; {remedy}")
        _check_digest(Path(path), remedy)
        frame = pd.read_csv(
            path,
            dtype=dict.fromkeys(TEXT, str),
            keep_default_na=False,
            na_values=[""],
        )
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make it first") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a table ({error}); {remedy}") from None
    for name in frame.columns.intersection(NUMBERS):
        if not pd.api.types.is_numeric_dtype(frame[name]):
            wrong = frame[name][pd.to_numeric(frame[name], errors="coerce").isna()].dropna()
            if len(wrong):  # a table without rows has columns of no type
                raise InputError(f"{path}: {name} is {wrong.iloc[0]!r}, not a number; {remedy}")
    return frame


def _check_digest(path: Path, remedy: str) -> None:
    page = path.with_suffix(".md")
    text = page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""
    found = re.search(DIGEST.format(re.escape(path.name), "([0-9a-f]{64})") + r"\n\Z", text)
    if not found:
        raise InputError(
            f"{path}: {page.name} beside it is missing or lacks its last line, which has the "
            f"digest of the table; {remedy}"
        )
    if found[1] != sha256_file(path):
        raise InputError(f"{path}: damaged or edited since {page.name} was made; {remedy}")
    own = re.search(OF_TEXT.format("([0-9a-f]{64})"), text)
    if own and own[1] != _sha256(text[: own.start()]):
        raise InputError(f"{page}: damaged or edited since it was made; {remedy}")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
