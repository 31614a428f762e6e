"""The checks on whole files: a planted fault is told, and the published files pass."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tasks import prepare, task
from tasks.read import OWN_ROWS
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tests.support import programs
from tests.support.realdata import realdata

FILE = Path("rows.tsv")


def rows(name: str, split: str, count: int | None = None) -> list[Example]:
    """Made examples with the official number of rows, and the counts or shares of labels."""
    definition, examples = task(name), []
    count = definition.rows[split] if count is None else count
    shares = definition.label_counts.get(split, definition.shares)
    ends = [sum(shares[: k + 1]) for k in range(len(shares))]
    for n in range(count):
        place = (n + 0.5) / count * ends[-1]
        label = next(k for k, end in enumerate(ends) if place < end + 1e-9)
        group = definition.groups[n % 2] if definition.groups else ""
        examples.append(Example(f"{name}/{split}/{n}", f"one {n}", "two", (), label, group))
    return examples


def refusal(name: str, examples: list[Example], least: int | None = None, **dropped: int) -> str:
    """What is said of the rows: one line."""
    message = programs.refusal(partial(passes, **dropped), name, examples, least)
    assert len(message) < 400 and message.startswith("rows.tsv: ")
    return message


def passes(name: str, examples: list[Example], least: int | None = None, **dropped: int) -> None:
    """Check the rows, of which as many were dropped for these reasons."""
    counts = Counter({key.replace("_", " "): n for key, n in dropped.items()})
    split = examples[0].guid.split("/")[1]
    prepare.check_published(task(name), FILE, split, examples, counts, least)


@pytest.mark.parametrize("name", ["rte", "cola", "mrpc", "stsb", "scitail", "dprd", "story_cloze"])
def test_the_official_number_of_rows_passes_and_one_fewer_or_more_does_not(name):
    split = task(name).train
    full = rows(name, split)
    passes(name, full)
    count = len(full)
    message = refusal(name, full[:-1])
    assert f"{count - 1:,} rows in '{split}', expected {count:,}" in message
    assert message.endswith(f"; a subset is declared with min_rows: {{{split}: {count - 1}}}")
    assert OWN_ROWS in message and "download" not in message
    extra = replace(full[0], guid=f"{name}/{split}/more", first="one more")
    message = refusal(name, [*full, extra])
    told = f"{count + 1:,} rows in '{split}', expected {count:,}; {OWN_ROWS}"
    assert message.endswith(told)


def test_a_stated_subset_passes_down_to_its_number_and_not_below():
    passes("snli", rows("snli", "test", 9818), least=9818)
    passes("snli", rows("snli", "test"), least=9818)
    message = refusal("snli", rows("snli", "test", 9817), least=9818)
    assert message.endswith(f"9,817 rows in 'test', expected 9,818 to 9,824; {OWN_ROWS}")


def test_a_flawed_row_may_be_in_the_official_number_and_one_without_gold_label_is_not():
    passes("qqp", rows("qqp", "dev", 40_428), empty_text=2, wrong_column_count=3)
    refusal("qqp", rows("qqp", "dev", 40_428), empty_text=1)
    passes("snli", rows("snli", "dev"), no_gold_label=158)
    refusal("snli", rows("snli", "dev", 9_800), no_gold_label=158)


@pytest.mark.parametrize("name", ["qqp", "scitail"])
def test_labels_in_the_other_order_are_told_by_their_shares(name):
    other = [replace(e, label=1 - e.label) for e in rows(name, "dev")]
    assert "labels in another order" in refusal(name, other)


@pytest.mark.parametrize(
    ("name", "split"), [("rte", "train"), ("sst2", "dev"), ("qnli", "dev"), ("story_cloze", "val")]
)
def test_labels_about_as_frequent_are_told_where_they_were_counted_and_other_rows(name, split):
    full = rows(name, split)
    passes(name, full)
    said = programs.refusal(prepare.check_digest, task(name), FILE, split, full)
    assert f"the rows of '{split}' are not the published ones" in said
    message = refusal(name, [replace(e, label=1 - e.label) for e in full])
    assert message.endswith(f"(labels in another order); {OWN_ROWS}")
    message = refusal(name, [*full[:-1], replace(full[-1], label=1 - full[-1].label)])
    assert message.endswith(f"(other data); {OWN_ROWS}")


@pytest.mark.parametrize("name", ["snli", "mnli", "race", "stsb"])
def test_a_label_that_never_occurs_is_told(name):
    split = list(task(name).rows)[-1]
    examples = [replace(e, label=e.label or 1) for e in rows(name, split)]
    told = f"0% of {len(examples):,} rows have label '{task(name).labels[0]}'"
    assert told in refusal(name, examples)
    passes("cola", [replace(e, label=1) for e in rows("cola", "dev", 5)], least=5)  # of a few rows


def test_made_data_is_not_compared_with_published_numbers(published):
    folder, rte = published("rte"), task("rte")
    splits, _ = prepare.prepare(rte, folder, PrepareSettings(published=False))
    assert sum(map(len, splits.values())) == 20
    said = programs.refusal(prepare.prepare, rte, folder, PrepareSettings())
    assert "10 rows in 'train', expected 2,490" in said
    subset = PrepareSettings(min_rows={"train": 10, "dev": 10})
    note = prepare.prepare(rte, folder, subset)[1]["note"]
    assert note == "train: 10 of 2,490 rows; dev: 10 of 277 rows"


def test_training_rows_are_found_whatever_the_limits_their_case_blanks_and_order(published):
    folder = published("mrpc")
    lines = (folder / "train.tsv").read_text(encoding="utf-8-sig").splitlines()
    cells = [line.split("\t") for line in lines[1:]]
    turned = [[*cell[:3], cell[4].upper(), f"{cell[3]} "] for cell in cells]
    text = "\n".join([lines[0], *map("\t".join, turned)]) + "\n"
    (folder / "dev.tsv").write_text(text, encoding="utf-8")
    given = folder, PrepareSettings(limit_train=2, limit_report=1, published=False)
    assert prepare.prepare(task("mrpc"), *given)[1]["overlap"]["dev"] == 10
    subset = PrepareSettings(limit_train=2, limit_report=1, min_rows={"train": 10, "dev": 10})
    told = "10 of 10 rows of 'dev' are training rows of MRPC"
    assert told in programs.refusal(prepare.prepare, task("mrpc"), folder, subset)


def test_four_of_a_hundred_rows_are_too_many():
    prepare.check_overlap(task("cola"), FILE, "dev", 16, 1043)
    said = programs.refusal(prepare.check_overlap, task("cola"), FILE, "dev", 40, 1000)
    assert "40 of 1,000 rows of 'dev'" in said and "at most 3% may be" in said


@pytest.mark.parametrize("name", ["cola", "rte", "mrpc", "sst2", "stsb", "dprd", "snli"])
def test_the_published_files_pass_every_check(name):
    folder = realdata(task(name).folder)
    settings = PrepareSettings(unlabelled=name not in ("dprd", "snli"))
    if name == "snli":
        given = '{"train_from": "dev", "report_on": ["test"], "min_rows": {"test": 9818}}'
        settings = PrepareSettings.parse(given)
    _, meta = prepare.prepare(task(name), folder, settings)
    assert meta["note"] == ("" if name != "snli" else "trained on dev; test: 9,818 of 9,824 rows")
    if name == "snli":
        assert meta["rows"] == {"train": 8856, "select": 986, "test": 9818}
    known = {"cola": 16, "stsb": 7, "rte": 0, "sst2": 0}
    assert meta["overlap"].get("dev") == known.get(name, meta["overlap"].get("dev"))


WRITERS: dict[str, Callable[[str], str]] = {
    "pandas": lambda text: WRITERS["of every text"](text) if '"' in text else text,
    "of every text": lambda text: f'"{text.replace(chr(34), chr(34) * 2)}"',
    "R": lambda text: f'"{WRITERS["with backslashes"](text)}"',
    "with backslashes": lambda text: text.replace('"', '\\"'),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_cells_quoted_as_in_csv_are_refused_and_quotation_marks_are_not(writer):
    plain = rows("qnli", "dev")
    said = ['who wrote "Emma" ?', '"Emma" is a book', '""Emma"" is spelt so', '"who" or "what"']
    for n, text in enumerate(said):
        plain[n] = replace(plain[n], first=text)
    passes("qnli", plain)
    quoted = [replace(row, first=WRITERS[writer](row.first)) for row in plain]
    n = sum('"' in row.first for row in quoted)
    assert f"{n:,} of {n:,} texts with a quotation mark are quoted as" in refusal("qnli", quoted)
    half = [pair[n % 2] for n, pair in enumerate(zip(quoted, plain, strict=True))]
    assert "texts with a quotation mark are quoted as in CSV, first" in refusal("qnli", half)


def test_labels_moved_by_a_row_are_told_where_the_digest_is_known(published):
    """Every count of rows and labels is as before; so it is if two texts were exchanged."""
    examples = task("rte").read(published("rte"), "dev")
    known = replace(task("rte"), digests={"dev": prepare.rows_digest(examples)})
    prepare.check_digest(known, FILE, "dev", examples)
    spaced = [replace(row, second=row.second.replace(" ", "  ")) for row in examples]
    prepare.check_digest(known, FILE, "dev", spaced)
    labels = [row.label for row in examples[1:] + examples[:1]]
    moved = [replace(row, label=k) for row, k in zip(examples, labels, strict=True)]
    exchanged = [replace(row, first=row.second, second=row.first) for row in examples]
    for other in (moved, exchanged):
        said = programs.refusal(prepare.check_digest, known, FILE, "dev", other)
        assert "not the published ones" in said and "min_rows: {dev: 10}" in said
