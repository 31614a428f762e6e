"""A table of the analysis: a tidy CSV, one number a row, and Markdown beside it.

What was not run is empty in the CSV, with 0 seeds, and `missing` in the Markdown.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tasks.common.errors import InputError
from tasks.common.files import write_atomic
from workflow.analysis import markdown

FIRST_COLUMNS = [  # of every table, where they apply; a table's own columns come after them
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "corpus"),
    *("seed", "score", "n_seeds", "mean", "sd"),
    *("ci_low", "ci_high", "paper", "majority", "bag_of_words", "train_tokens", "train_seconds"),
    *("peak_mb", "alarms", "note"),
]
FOUR = [
    *("mean", "sd", "ci_low", "ci_high", "majority", "bag_of_words", "low", "high"),
    *("diff", "diff_low", "diff_high", "decontaminated_mean", "decontaminated_sd"),
    *("share", "short", "share_words", "share_whole", "accuracy", "accuracy_by_sum", "chance"),
    *("along", "along_low", "along_high", "change", "change_low", "change_high", "zero_shot"),
    *("skills", "lag", "lag_low", "lag_high"),
    *("perplexity", "half_skills", "half_zero_shot", "half_score", "sd_pretrain", "sd_finetune"),
]
SIX = ["relative", "relative_low", "relative_high", "margin", "threshold"]
SIX += ["heldout_loss", "train_loss", "bits_per_byte"]
DECIMALS = dict.fromkeys(FOUR, 4) | dict.fromkeys(SIX, 6)
DECIMALS |= {"train_seconds": 2, "job_seconds": 2, "peak_mb": 1, "flops": 0}
COUNTS = [
    *("n_seeds", "train_rows", "train_tokens", "tokens", "update", "n", "rows"),
    "decontaminated_rows",
]
NUMBERS = {*DECIMALS, *COUNTS, "seed", "score", "paper"}  # a table's own columns may be text
BY_SEED = [f"{of}by_seed" for of in ("", "diff_", "along_", "change_", "relative_")]  # tuples
TEXT = [
    *("arch", "variant", "line", "value", "task", "metric", "split", "n_transfer", "aux", "corpus"),
    *("alarms", "note", "cpu"),
    *("table", "column", "source", "skill", "label", "prediction"),
    *BY_SEED,
]


@dataclass(frozen=True)
class Table:
    """A tidy `frame`, and the `parts` of its Markdown: paragraphs, and frames of text.

    `decimals` says how the CSV's numbers are rounded, so that its bytes are stable. `words` are the
    columns of the parts that hold words; the others hold numbers and are right-aligned.
    """

    frame: pd.DataFrame
    parts: list[str | pd.DataFrame]
    decimals: dict[str, int] = field(default_factory=lambda: DECIMALS)
    words: Collection[str] = ()

    @property
    def markdown(self) -> str:
        """The table in wide form, for reading."""
        return "\n\n".join(
            part if isinstance(part, str) else markdown.render(part, self.words)
            for part in self.parts
        )

    def write(self, path: str | Path) -> None:
        """Write the CSV to `path` and the Markdown beside it."""
        text, path = self.markdown, Path(path)
        with write_atomic(path) as file:
            self._rounded().to_csv(file, index=False, lineterminator="\n")
        with write_atomic(path.with_suffix(".md")) as file:
            file.write(f"{text.rstrip()}\n")

    def _rounded(self) -> pd.DataFrame:
        frame, first = self.frame, [name for name in FIRST_COLUMNS if name in self.frame]
        frame = frame[first + [name for name in frame if name not in first]]
        frame = frame.round({name: n for name, n in self.decimals.items() if name in frame})
        counts = {name: frame[name].astype(float).round() for name in COUNTS if name in frame}
        lists = {name: frame[name].map(_joined) for name in BY_SEED if name in frame}
        return frame.assign(
            **lists, **{name: count.astype("Int64") for name, count in counts.items()}
        )


def _joined(values: object) -> str:
    """Values by seed as text, `84.1000;85.2000`; empty if there are none."""
    return ";".join(f"{value:.4f}" for value in values) if isinstance(values, tuple) else ""


def _split(text: object) -> tuple[float, ...]:
    return tuple(map(float, text.split(";"))) if isinstance(text, str) else ()


def read_csv(path: Path) -> pd.DataFrame:
    """A tidy table as it was written; `n_transfer` stays text because of `none`.

    Raises InputError if the file is missing, truncated or not such a table.
    """
    try:
        if not Path(path).read_bytes().endswith(b"\n"):
            raise ValueError("truncated: its last line is cut off")
        text = dict.fromkeys(TEXT, str)
        frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
        for name in frame.columns.intersection(NUMBERS):
            numbers = pd.to_numeric(frame[name], errors="coerce")
            wrong = frame[name][numbers.isna()].dropna()
            if len(wrong):
                raise ValueError(f"{name} is {wrong.iloc[0]!r}, not a number")
            frame[name] = numbers
        for name in frame.columns.intersection(BY_SEED):
            frame[name] = frame[name].map(_split)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make it first") from None
    except ValueError as error:  # pandas' parsing errors are ValueErrors, too, with a newline
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"{path}: not a table ({reason}); delete it and make it again") from None
    return frame
