"""Readers give exactly what stands in the files; what is wrong with one is told in one line."""

import bz2
import gzip
import json
import lzma
import random
from pathlib import Path

import pytest
from datasets import Dataset

from tasks import examples, read, task
from tasks.common.errors import InputError
from tasks.common.hf_datasets import save
from tasks.task import Tally
from tests.support import programs

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
        examples.write(folder, {"dev": rows}, ())
    assert (folder / "dev.tsv").is_file()


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
    assert said in refusal("race", tmp_path, "dev")


def edit(path, old: bytes, new: bytes):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    return path


def refusal(name: str, folder, split: str) -> str:
    """The complaint about a split of a folder."""
    return programs.refusal(task(name).read, folder, split)


TSV = "tsv_format/scitail_1.0_test.tsv"
STORIES = "cloze_test_test__spring2016 - cloze_test_ALL_test.csv"
# layout, split, file, what to replace, by what, line, what the message must say
EDITS = [
    ("rte", "dev", "dev.tsv", b"\tnot_entailment\n", b"\n", 2, "4 columns, found 3"),
    ("rte", "dev", "dev.tsv", b"\n4\t", b"\n\n4\t", 6, "expected 4 columns, found 1"),
    ("rte", "dev", "dev.tsv", b"\tlabel\n", b"\tx\n", 1, "no column 'label'"),
    ("scitail", "test", TSV, b"\tneutral", b"", 1, "found 2"),
    ("rte", "dev", "dev.tsv", b"not_entailment", b"maybe", 2, "label 'maybe' is unknown"),
    ("race", "dev", "dev/high/0.txt", b'"B"', b'"E"', 1, "label 'E' is unknown"),
    ("stsb", "dev", "dev.tsv", b"\t0.500", b"\t5.500", 3, "a score from 0 to 5"),
    ("stsb", "dev", "dev.tsv", b"\t0.500", b"\tnan", 3, "a score from 0 to 5"),
    ("stsb", "dev", "dev.tsv", b"\t0.500", b"\t0_4", 3, "label '0_4' is unknown"),
    ("mrpc", "dev", "dev.tsv", b"one 4", b"\xff\xfe", 6, "not UTF-8"),
    ("snli", "dev", "snli_1.0_dev.jsonl", b" ", b"\xff", 1, "not UTF-8 at byte"),
    ("sst2", "dev", "dev.tsv", b"dev film 2", b"  ", 4, "empty text"),
    ("rte", "dev", "dev.tsv", b"guess 2", b"", 4, "empty text"),
    ("rte", "dev", "dev.tsv", b"guess 2", "\u200b \u2060".encode(), 4, "empty text"),
    ("snli", "dev", "snli_1.0_dev.jsonl", b"guess 2", rb"\ud83d", 3, "surrogates not allowed"),
    ("snli", "dev", "snli_1.0_dev.jsonl", b'guess 3"}', b"gue", 4, "not JSON"),
    ("snli", "dev", "snli_1.0_dev.jsonl", b"sentence2", b"sent2", 1, "'sentence2'"),
    ("snli_txt", "dev", "snli_1.0_dev.txt", b"gold_label", b"gold", 1, "'gold_label'"),
    ("race", "dev", "dev/high/0.txt", b'"answers"', b'"answer"', 1, "'answers'"),
    ("race", "dev", "dev/high/0.txt", b'"A"]}', b'"A"], "C}', 1, "not JSON"),
    ("race", "dev", "dev/high/0.txt", b'"A"]', b'"A", "C"]', 1, "4 answers"),
    ("dprd", "test", "test.c.txt", b"\nThe cat\n", b"\nThe cow\n", 4, "answer 'The cow'"),
    ("dprd", "test", "test.c.txt", b"The cat,", b"The cat", 3, "two candidates"),
    ("dprd", "test", "test.c.txt", b"The cat,", b" ,", 3, "two candidates"),
    ("dprd", "test", "test.c.txt", b"\nit\n", b"\nshe\n", 2, "pronoun 'she'"),
    ("dprd", "test", "test.c.txt", b"\n\n", b"\n", 5, "expected a blank line"),
    ("dprd", "test", "test.c.txt", b"it was big.", b"it", 1, "nothing follows"),
    ("story_cloze", "test", STORIES, b"SentenceQuiz2", b"Quiz2", 1, "no column 'RandomFifthSent"),
    ("story_cloze", "test", STORIES, b"She flew.,2", b"She flew.,3", 3, "label '3' is unknown"),
    ("story_cloze", "test", STORIES, b"She fell 2.", b"", 4, "InputSentence4 is empty"),
    ("story_cloze", "test", STORIES, b"test-0,", b"", 2, "expected 8 columns, found 7"),
    ("story_cloze", "test", STORIES, b'said ""ow"".",She flew.,1', b"said", 3, "not CSV"),
]


@pytest.mark.parametrize(("layout", "split", "file", "old", "new", "line", "said"), EDITS)
def test_a_damaged_row_is_named(layout, split, file, old, new, line, said, published):
    folder = published(layout)
    path = edit(folder / file, old, new)
    message = refusal(layout.removesuffix("_txt"), folder, split)
    assert message.startswith(f"{path}:{line}: ") and said in message


def test_a_missing_folder_or_file_says_how_to_obtain_the_data(published, tmp_path):
    message = refusal("snli", tmp_path / "nowhere", "dev")
    assert "nowhere: no such folder" in message and "nlp.stanford.edu" in message
    folder = published("snli")
    (folder / "snli_1.0_dev.jsonl").unlink()
    message = refusal("snli", folder, "dev")
    assert "no file snli_1.0_dev.jsonl or snli_1.0_dev.txt" in message


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_compressed_file_under_a_plain_name_is_told(pack, published):
    folder = published("rte")
    (folder / "dev.tsv").write_bytes(pack((folder / "dev.tsv").read_bytes()))
    assert "dev.tsv: compressed; unpack it" in refusal("rte", folder, "dev")


def test_two_files_that_could_be_the_split_are_both_named(published):
    folder = published("story_cloze")
    copy = folder / "cloze_test_test__spring2016 (1).csv"
    copy.write_bytes((folder / STORIES).read_bytes())
    assert f"{copy.name!r} and {STORIES!r} both match" in refusal("story_cloze", folder, "test")


def test_many_broken_qqp_rows_are_an_error_and_so_is_one_unknown_label(published):
    folder = published("qqp")
    with open(folder / "dev.tsv", "a") as file:
        file.write("10\tbroken\n" * 4)
    message = refusal("qqp", folder, "dev")
    assert "dev.tsv:12: expected 6 columns, found 2" in message and "4 such rows" in message
    edit(folder / "train.tsv", b"why 1\t1\n", b"why 1\tyes\n")
    assert "train.tsv:3: label 'yes'" in refusal("qqp", folder, "train")


def test_race_with_three_options_or_no_question_is_counted_until_it_is_too_much(published):
    folder = published("race")
    record = json.loads((folder / "dev/high/0.txt").read_text())
    record["options"][0].pop()
    record["questions"][1] = " "
    (folder / "dev/high/0.txt").write_text(json.dumps(record))
    assert len(task("race").read(folder, "dev")) == 10
    record["options"] = [["a", "b", "c"]] * 3
    for number in (0, 1):
        (folder / f"dev/high/{number}.txt").write_text(json.dumps(record))
    assert "question 1: expected 4 options, found 3" in refusal("race", folder, "dev")


def test_damaged_examples_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        examples.read(tmp_path / "cola", "train")
    rows = Dataset.from_dict({"guid": ["cola/train/0"], "text": ["a"]})
    save(tmp_path / "cola", {"train": rows})
    with pytest.raises(InputError, match="columns guid text are not those of examples"):
        examples.read(tmp_path / "cola", "train")
    path = tmp_path / "cola/train/data-00000-of-00001.arrow"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a whole Arrow file"):
        examples.read(tmp_path / "cola", "train")


def test_an_unknown_task_lists_the_known_ones_and_a_split_without_labels_is_never_read(published):
    with pytest.raises(InputError, match="no task 'glue'; the tasks are snli mnli"):
        task("glue")
    assert "no labelled split 'test'" in refusal("rte", published("rte"), "test")
