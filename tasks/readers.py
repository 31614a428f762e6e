"""Reading the published files with `datasets`: tables, JSON lines, plain lines, hub snapshots.

Every reader gives records, and a parser that makes the same rows (`Row`) of them: texts, the file's
own word for the label, file and line.
The tab-separated files of these data sets know no quoting: a lone `"` is text, and a reader with
CSV quoting silently glues rows together (SciTail lost 499 training rows that way in a widely used
copy). A row ends at a newline and at nothing else: U+2028 or a carriage return inside a field is
text. A byte order mark and CRLF are accepted. Where a builder of `datasets` would drop or pad a row
or fail without a line number, the raw lines are looked at first (`lines`).
"""

import csv
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.common.errors import InputError
from tasks.common.hf_datasets import library
from tasks.hub import FETCH_AGAIN, HubSource

if TYPE_CHECKING:
    from datasets import Dataset

HALF_PAIR = re.compile("[\ud800-\udfff]")  # JSON can escape it, UTF-8 cannot hold it
ORIGINAL = "get the file again in its original layout"
# For pandas, by which `datasets` reads tables: every character but tab and newline is text.
EXACT_TABLE: dict[str, Any] = {
    **{"sep": "\t", "lineterminator": "\n", "quoting": csv.QUOTE_NONE, "encoding": "utf-8-sig"},
    **{"header": None, "index_col": False, "skip_blank_lines": False},
    **{"na_filter": False, "keep_default_na": False},
}


class Row(NamedTuple):
    """One row of a file: `file` counts the split's files from 0, `line` is 1-based.

    `key` is the row's name within its split. A row with a `flaw` says in it what was found; a task
    that tolerates flawed rows counts them by `reason`, but one without reason is always an error.
    """

    file: int
    line: int
    key: str = ""
    label: str = ""
    first: str = ""
    second: str = ""
    choices: tuple[str, ...] | list[str] = ()
    group: str = ""
    reason: str = ""
    flaw: str = ""


Batch = dict[str, list[Any]]
Parser = Callable[[Batch], Iterable[Row]]


def load(builder: str, paths: list[Path], texts: list[str], **options: Any) -> "Dataset":
    """The rows of `paths`, in memory, by a builder of `load_dataset`; `texts` are its columns.

    Without `texts` the types are the files' own. The library's cache is a temporary folder, so
    neither a shared nor a read-only one matters. Raises InputError, naming file and line if a text
    file is not UTF-8.
    """
    datasets = library()
    if texts:
        options["features"] = datasets.Features({n: datasets.Value("string") for n in texts})
    files = {"train": [str(path) for path in paths]}
    with tempfile.TemporaryDirectory(prefix="datasets.") as cache:
        try:
            options |= {"cache_dir": cache, "keep_in_memory": True}
            return datasets.load_dataset(builder, data_files=files, split="train", **options)
        except datasets.exceptions.DatasetGenerationError as error:
            cause = " ".join(str(error.__cause__ or error).split())
    if builder == "parquet":
        raise InputError(f"{paths[0]}: not a whole parquet file ({cause:.200}); {FETCH_AGAIN}")
    for path in paths:
        for _ in lines(path):  # names the line that is not UTF-8
            pass
    raise InputError(f"{paths[0]}: cannot be read ({cause:.200}); get the file again")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, text without its line end), blank lines at the end left out."""
    blank = 0
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            if not raw:
                blank += 1
                continue
            for k in range(blank):
                yield number - blank + k, ""
            blank = 0
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path}:{number}: not UTF-8 at byte {error.start} of the line; "
                    "save the file as UTF-8"
                ) from None


def header(path: Path) -> list[str]:
    """The column names in a table's first line. Raises InputError if the file is empty."""
    for _, text in lines(path):
        return [name.strip() for name in text.split("\t")]
    raise InputError(f"{path}: the file is empty; get it again")


@dataclass(frozen=True)
class Layout:
    """Files in one of a task's original layouts; `files` is their pattern for a `{split}`."""

    files: str

    def read(self, paths: list[Path]) -> "tuple[Dataset, Parser]":
        """A split's records, and what makes rows of a batch of them.

        Raises InputError, naming file and line, for what is not in this layout at all.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Table(Layout):
    """Tab-separated rows by column names; `names` where the file has no header."""

    first: str
    label: str
    second: str = ""
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(filter(None, (self.first, self.second, self.label)))

    def read(self, paths: list[Path]) -> "tuple[Dataset, Parser]":
        (path,) = paths
        texts = [name for name in (self.first, self.second) if name]

        def rows(batch: Batch) -> Iterator[Row]:
            columns = (batch[name] for name in ("line", "flaw", self.label, *texts))
            for line, flaw, label, *cells in zip(*columns, strict=True):
                first, second = (*cells, "")[:2]
                key, reason = str(line - (1 if self.names else 2)), "wrong column count"
                row = Row(0, line, key, label, first, second)
                yield row._replace(reason=reason, flaw=flaw) if flaw else row

        return table(path, self.columns, self.names, "labelled"), rows


def table(path: Path, columns: tuple[str, ...], names: tuple[str, ...], kind: str) -> "Dataset":
    """The `columns`, `line` and `flaw` of each row of a tab-separated file.

    pandas pads a row that is too short and cannot pass over one that is too long: lines with
    another number of cells are not read, but have empty texts and a flaw.
    """
    found = list(names) or header(path)
    for column in columns:
        if column not in found:
            raise InputError(
                f"{path}:1: no column {column!r}, found {shown(found)}; "
                f"is this the {kind} file of this task?"
            )
    good: list[int] = []
    ragged: dict[int, str] = {}
    for number, text in lines(path):
        cells = text.count("\t") + 1
        if number == 1 and not names:
            continue
        if cells == len(found):
            good.append(number)
        else:
            ragged[number] = f"{cells} columns, {len(found)} are needed; {ORIGINAL}"
    datasets = library()
    texts = {name: [""] * len(ragged) for name in columns}
    flawed = {**texts, "line": list(ragged), "flaw": list(ragged.values())}
    broken = datasets.Dataset.from_dict(flawed)
    if not good:
        return broken
    places = sorted((found.index(column), column) for column in columns)
    skipped = set(range(1, good[-1])) - set(good)
    records = load(
        *("csv", [path], list(columns)),
        names=[column for _, column in places],
        usecols=[place for place, _ in places],
        skiprows=[number - 1 for number in sorted(skipped)],
        nrows=len(good),
        **EXACT_TABLE,
    )
    if len(records) != len(good):
        raise InputError(f"{path}: {len(records)} of {len(good)} rows were read; report this bug")
    records = records.add_column("line", good).add_column("flaw", [""] * len(good))
    if not ragged:
        return records
    lines_of = [*good, *ragged]
    order = sorted(range(len(lines_of)), key=lines_of.__getitem__)
    return datasets.concatenate_datasets([records, broken]).select(order)


def text_lines(path: Path) -> "Dataset":
    """The `text` and the number `line` of each line of a file, blank lines at the end left out."""
    records = load("text", [path], ["text"], encoding="utf-8-sig")
    texts = records["text"][:]
    while texts and not texts[-1]:
        texts.pop()
    records = records.select(range(len(texts)))
    return records.add_column("line", list(range(1, len(texts) + 1)))


@dataclass(frozen=True)
class JsonLines(Layout):
    """One JSON object a line, or a table with the same columns.

    Read as lines: pyarrow's JSON reader guesses types (a sentence may look like a date) and does
    not name the line where a file is cut off.
    """

    first: str = "sentence1"
    second: str = "sentence2"
    label: str = "gold_label"

    def read(self, paths: list[Path]) -> "tuple[Dataset, Parser]":
        (path,) = paths
        with open(path, "rb") as file:
            is_json = file.read(4).removeprefix(b"\xef\xbb\xbf").startswith(b"{")
        if not is_json and path.suffix != ".jsonl":
            return Table(self.files, self.first, self.label, self.second).read(paths)

        def rows(batch: Batch) -> Iterator[Row]:
            for line, text in zip(batch["line"], batch["text"], strict=True):
                record = json_object(text, line)
                if isinstance(record, Row):
                    yield record
                    continue
                keys = (self.first, self.second, self.label)
                wrong = next(filter(None, (not_text(record, key) for key in keys)), "")
                if wrong:
                    yield Row(0, line, flaw=wrong)
                else:
                    first, second, label = (record[key] for key in keys)
                    yield Row(0, line, str(line - 1), label, first, second)

        return text_lines(path), rows


def json_object(text: str, line: int = 1, file: int = 0) -> dict[str, Any] | Row:
    """The JSON object of a text that starts at `line`; a flawed row if it is none."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        flaw = (
            f"not JSON ({error.msg} at column {error.colno}); the file may be cut off: get it again"
        )
        return Row(file, line + error.lineno - 1, flaw=flaw)
    if not isinstance(record, dict):
        kind = type(record).__name__
        return Row(file, line, flaw=f"a JSON object is needed, found {kind}")
    if HALF_PAIR.search(json.dumps(record, ensure_ascii=False)):
        return Row(file, line, flaw="half a surrogate pair is no character; get the file again")
    return record


def not_text(record: dict[str, Any], key: str) -> str:
    """What stands under `key` where a text is needed; empty if it is one."""
    value = record.get(key)
    if isinstance(value, str):
        return ""
    found = f"found {value!r:.60}" if key in record else f"the keys are {shown(list(record))}"
    return f"a text under {key!r} is needed, {found}"


def shown(names: list[str]) -> str:
    """Names for a message, cut to one line."""
    return " ".join(names)[:100] or "nothing"


def hub_records(source: HubSource, paths: list[Path]) -> "Dataset":
    """The columns of a source's parquet files, with each row's `file` and `line` (1-based).

    Raises InputError for a file that is cut off, of another task, or whose labels are coded
    otherwise than the source says.
    """
    import pyarrow
    from pyarrow import parquet

    places: list[tuple[int, int]] = []
    for number, path in enumerate(paths):
        try:
            with parquet.ParquetFile(path) as file:
                _check_schema(path, file.schema_arrow, source)
                places += [(number, line) for line in range(1, file.metadata.num_rows + 1)]
        except pyarrow.ArrowException as error:
            raise InputError(f"{path}: not a whole parquet file ({error}); {FETCH_AGAIN}") from None
    if not places:
        return library().Dataset.from_dict({n: [] for n in (*source.columns, "file", "line")})
    records = load("parquet", paths, [], columns=list(source.columns))
    records = records.add_column("file", [file for file, _ in places])
    return records.add_column("line", [line for _, line in places])


def _check_schema(path: Path, schema: Any, source: HubSource) -> None:
    """The source's columns, and labels that mean what the source says."""
    missing = [name for name in source.columns if name not in schema.names]
    if missing:
        from tasks import TASKS  # which imports this module

        others = [t.hub for t in TASKS if t.hub.repo and set(t.hub.columns) <= set(schema.names)]
        whose = f" ({others[0].name} has these)" if others else ""
        raise InputError(
            f"{path}: columns {', '.join(source.columns)} expected, found "
            f"{', '.join(schema.names)}{whose}; {source.note or FETCH_AGAIN}"
        )
    type_ = str(schema.field(source.label).type)
    expected = {int: "int", str: "string"}[type(min(source.labels))] if source.labels else "float"
    if expected not in type_:
        raise InputError(
            f"{path}: {source.label!r} holds {type_}, a label of {source.name} is {expected}; "
            + FETCH_AGAIN
        )
    if expected == "int" and source.named_labels:
        # `datasets` keeps the names of a column's classes in the file's schema.
        kept = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        names = kept.get("info", {}).get("features", {}).get(source.label, {}).get("names", [])
        if names != list(source.labels.values()):
            raise InputError(
                f"{path}: labels 0, 1, .. are named {', '.join(names) or 'nothing'}, expected "
                f"{', '.join(source.labels.values())}; take the pinned revision, whose files name "
                "them so"
            )
