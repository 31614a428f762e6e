"""Readers give exactly what stands in the files, and writers leave nothing half-written."""

import json
import random
from pathlib import Path

import pytest

from tasks import read, task
from tasks.common.errors import InputError
from tasks.examples import write
from tasks.task import Tally
from tests.support.programs import refusal

# What a CSV or text reader may take for a quote, a line end, a missing value or the end of a file.
BITS = (
    *('"', '""', "'", "\\", "\\N", ",", "#", "\r", "\x00", "\x0b", "\x0c", "\x1a", "\x1c", "\x85"),
    *("\u2028", "\u2029", "\ufeff", "\xa0", " ", "NA", "null", "nan", "", "1e5", "0012", "é日"),
)


def text(draw: random.Random) -> str:
    return "".join(draw.choice((*BITS, "word ", "two words ")) for _ in range(draw.randint(0, 5)))


def rows_of(layout: read.Layout, path: Path) -> list[read.Row]:
    return list(layout.rows([path]))


@pytest.mark.parametrize("seed", range(8))
def test_every_cell_of_a_table_is_read_as_it_stands(seed, tmp_path):
    draw = random.Random(seed)
    rows = [[text(draw) for _ in range(4)] for _ in range(400)]
    end = draw.choice(("\n", "\r\n"))
    lines, expected = ["index\tfirst\tlabel\tsecond"], []
    for row in rows:
        lines.append("\t".join(row))
        expected.append((len(lines), row[1], row[3], row[2]))
        while draw.random() < 0.05:  # ragged rows, among them blank ones
            lines.append(draw.choice(("", "a", "\t" * 7, f'"{text(draw)}\t')))
    while not lines[-1].strip("\r"):
        lines.pop()
    blank = end * draw.randint(0, 3)
    bom = draw.choice(("", "\ufeff"))
    path = tmp_path / "rows.tsv"
    path.write_bytes((bom + end.join(lines) + blank).encode())
    table = read.Table("", first="first", second="second", label="label")
    found = rows_of(table, path)
    cells = [(row.line, row.first, row.second, row.label) for row in found if not row.flaw]
    # Carriage returns at the end of a line belong to the line end; texts are stripped anyway.
    assert [(n, a, b.rstrip("\r"), c) for n, a, b, c in cells] == [
        (n, a, b.rstrip("\r"), c) for n, a, b, c in expected
    ]
    assert [row.line for row in found] == list(range(2, len(lines) + 1))


@pytest.mark.parametrize("seed", range(3))
def test_every_text_of_json_lines_is_read_as_it_stands(seed, tmp_path):
    draw = random.Random(seed)
    rows = [{k: text(draw) for k in ("sentence1", "sentence2", "gold_label")} for _ in range(300)]
    rows[5]["sentence1"] = "2020-01-01"  # not a date
    lines = [json.dumps(row, ensure_ascii=draw.random() < 0.5) for row in rows]
    (tmp_path / "x.jsonl").write_bytes("\n".join(lines).encode())
    found = rows_of(read.Table("", "sentence1", "gold_label", "sentence2"), tmp_path / "x.jsonl")
    assert [(row.first, row.second, row.label) for row in found] == [
        tuple(row.values()) for row in rows
    ]
    assert not any(row.flaw for row in found)


def test_text_that_is_not_utf8_is_refused_with_file_and_line_in_every_layout(published):
    for name, pattern in (("snli", "*dev.jsonl"), ("dprd", "test*"), ("race", "dev/high/0.txt")):
        path = next(published(name).glob(pattern))
        path.write_bytes(path.read_bytes().replace(b" ", b"\xff", 1))
        folder, split = path.parent, "test" if name == "dprd" else "dev"
        folder = folder.parents[1] if name == "race" else folder
        with pytest.raises(InputError, match=rf"{path.name}:1: not UTF-8 at byte \d+ of the line"):
            task(name).read(folder, split)


def test_half_a_surrogate_pair_is_refused_with_its_line(published):
    path = published("snli") / "snli_1.0_dev.jsonl"
    path.write_text(path.read_text().replace("guess 2", r"\ud83d"))
    with pytest.raises(InputError, match=r"dev.jsonl:3: not JSON .*surrogates not allowed"):
        task("snli").read(path.parent, "dev")


def test_a_cr_before_the_line_end_is_no_part_of_a_missing_gold_label(published):
    path = published("snli_txt") / "snli_1.0_dev.txt"
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    turned = ["\t".join(row[::-1]) for row in (header, *rows)]
    path.write_bytes("\r\n".join(turned).encode())
    tally = Tally()
    assert len(task("snli").read(path.parent, "dev", tally)) == 3
    assert tally.dropped == {"no gold label": 1}


def test_a_folder_that_holds_something_else_is_never_replaced(published):
    folder = published("rte")
    rows = task("rte").read(folder, "dev")
    with pytest.raises(InputError, match="dev.tsv: no file of an earlier output; move it"):
        write(folder, {"dev": rows}, None)
    assert (folder / "dev.tsv").is_file()


def test_blank_lines_keep_their_numbers_and_those_at_the_end_are_no_rows(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"\xef\xbb\xbfa\r\n\n\n\xef\xbb\xbfb\r\n\r\n\n")
    assert list(read.lines(path)) == [(1, "a"), (2, ""), (3, ""), (4, "\ufeffb")]


def test_a_row_is_named_by_its_place_below_the_header(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("label\tx\n1\ta\n0\tb\n2\n")
    one, two, short = rows_of(read.Table("{split}.tsv", "x", "label"), path)
    assert (one, two) == (read.Row(path, 2, "0", "1", "a"), read.Row(path, 3, "1", "0", "b"))
    assert (short.line, short.reason) == (4, "wrong column count")
    bare = read.Table("{split}.tsv", "x", "label", names=("label", "x"))
    assert [(row.line, row.key) for row in rows_of(bare, path)][:2] == [(1, "0"), (2, "1")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a":\n\n x}', "1.txt:3: not JSON (Expecting value at column 2); the file may be trunc"),
        ("[1]", "1.txt:1: expected a JSON object, found list"),
        ('{"article": 1}', "1.txt:1: expected a text under 'article', found 1"),
        ("{}", "1.txt:1: expected a text under 'article', the keys are nothing"),
        (
            '{"article": "", "questions": {}}',
            "1.txt:1: expected a list under 'questions', found {}",
        ),
    ],
)
def test_what_is_no_article_of_race_is_named_by_the_line_where_it_breaks(text, said, tmp_path):
    path = tmp_path / "dev" / "high" / "1.txt"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert said in refusal(task("race").read, tmp_path, "dev")
