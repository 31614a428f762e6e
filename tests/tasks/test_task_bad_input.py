"""Whatever is wrong with a file is reported on one line: file, row, what was found, what to do."""

import bz2
import gzip
import json
import lzma

import pytest
from datasets import Dataset

from tasks import task
from tasks.common.errors import InputError
from tasks.common.hf_datasets import save
from tasks.examples import read
from tests.support import programs


def edit(path, old: bytes, new: bytes):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    return path


def refusal(name: str, folder, split: str) -> str:
    """The complaint about a split of a folder."""
    return programs.refusal(task(name).read, folder, split)


TSV = "tsv_format/scitail_1.0_test.tsv"
# task, layout, split, file, what to replace, by what, line, what the message must say
EDITS = [
    ("rte", "rte", "dev", "dev.tsv", b"\tnot_entailment\n", b"\n", 2, "4 columns, found 3"),
    ("scitail", "scitail", "test", TSV, b"\tneutral", b"", 1, "found 2"),
    ("rte", "rte", "dev", "dev.tsv", b"not_entailment", b"maybe", 2, "label 'maybe' is unknown"),
    ("race", "race", "dev", "dev/high/0.txt", b'"B"', b'"E"', 1, "label 'E' is unknown"),
    ("stsb", "stsb", "dev", "dev.tsv", b"\t0.500", b"\t5.500", 3, "a score from 0 to 5"),
    ("stsb", "stsb", "dev", "dev.tsv", b"\t0.500", b"\tnan", 3, "a score from 0 to 5"),
    ("mrpc", "mrpc", "dev", "dev.tsv", b"one 4", b"\xff\xfe", 6, "not UTF-8"),
    ("sst2", "sst2", "dev", "dev.tsv", b"dev film 2", b"  ", 4, "empty text"),
    ("rte", "rte", "dev", "dev.tsv", b"guess 2", b"", 4, "empty text"),
    ("rte", "rte", "dev", "dev.tsv", b"guess 2", "\u200b \u2060".encode(), 4, "empty text"),
    ("stsb", "stsb", "dev", "dev.tsv", b"\t0.500", b"\t0_4", 3, "label '0_4' is unknown"),
    ("snli", "snli", "dev", "snli_1.0_dev.jsonl", b'guess 3"}', b"gue", 4, "not JSON"),
    ("snli", "snli", "dev", "snli_1.0_dev.jsonl", b"sentence2", b"sent2", 1, "'sentence2'"),
    ("snli", "snli_txt", "dev", "snli_1.0_dev.txt", b"gold_label", b"gold", 1, "'gold_label'"),
    ("race", "race", "dev", "dev/high/0.txt", b'"answers"', b'"answer"', 1, "'answers'"),
    ("race", "race", "dev", "dev/high/0.txt", b'"A"]}', b'"A"], "C}', 1, "not JSON"),
    ("race", "race", "dev", "dev/high/0.txt", b'"A"]', b'"A", "C"]', 1, "4 answers"),
    ("dprd", "dprd", "test", "test.c.txt", b"\nThe cat\n", b"\nThe cow\n", 4, "answer 'The cow'"),
    ("dprd", "dprd", "test", "test.c.txt", b"The cat,", b"The cat", 3, "two candidates"),
    ("dprd", "dprd", "test", "test.c.txt", b"The cat,", b" ,", 3, "two candidates"),
    ("dprd", "dprd", "test", "test.c.txt", b"\nit\n", b"\nshe\n", 2, "pronoun 'she'"),
    ("dprd", "dprd", "test", "test.c.txt", b"\n\n", b"\n", 5, "expected a blank line"),
    ("dprd", "dprd", "test", "test.c.txt", b"it was big.", b"it", 1, "nothing follows"),
]


@pytest.mark.parametrize(("name", "layout", "split", "file", "old", "new", "line", "said"), EDITS)
def test_a_damaged_row_is_named(name, layout, split, file, old, new, line, said, published):
    folder = published(layout)
    path = edit(folder / file, old, new)
    message = refusal(name, folder, split)
    assert message.startswith(f"{path}:{line}: ") and said in message


STORIES = "cloze_test_test__spring2016 - cloze_test_ALL_test.csv"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (b"RandomFifthSentenceQuiz2", b"Quiz2", 1, "no column 'RandomFifthSentenceQuiz2'"),
        (b"She flew.,2", b"She flew.,3", 3, "label '3' is unknown"),
        (b"She fell 2.", b"", 4, "InputSentence4 is empty"),
        (b"test-0,", b"", 2, "expected 8 columns, found 7"),
        (b'said ""ow"".",She flew.,1', b"said", 3, "not CSV"),
    ],
)
def test_a_damaged_story_is_named(old, new, line, said, published):
    folder = published("story_cloze")
    path = edit(folder / STORIES, old, new)
    message = refusal("story_cloze", folder, "test")
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


def test_an_empty_file_and_a_header_alone_are_told(published):
    folder = published("rte")
    edit(folder / "dev.tsv", (folder / "dev.tsv").read_bytes(), b"")
    assert "dev.tsv: the file is empty" in refusal("rte", folder, "dev")
    (folder / "dev.tsv").write_text("index\tsentence1\tsentence2\tlabel\n\n")
    assert "split 'dev' has no usable row" in refusal("rte", folder, "dev")


def test_a_blank_line_in_the_middle_is_a_row_without_its_columns(published):
    folder = published("rte")
    edit(folder / "dev.tsv", b"\n4\t", b"\n\n4\t")
    assert "dev.tsv:6: expected 4 columns, found 1" in refusal("rte", folder, "dev")


def test_an_unlabelled_test_file_is_never_read_as_labelled(published):
    folder = published("rte")
    (folder / "dev.tsv").write_text("index\tsentence1\tsentence2\n0\ta\tb\n")
    assert "no column 'label'" in refusal("rte", folder, "dev")
    assert "no labelled split 'test'" in refusal("rte", folder, "test")


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
        read(tmp_path / "cola", "train")
    rows = Dataset.from_dict({"guid": ["cola/train/0"], "text": ["a"]})
    save(tmp_path / "cola", {"train": rows})
    with pytest.raises(InputError, match="columns guid text are not those of examples"):
        read(tmp_path / "cola", "train")
    path = tmp_path / "cola/train/data-00000-of-00001.arrow"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a whole Arrow file"):
        read(tmp_path / "cola", "train")


def test_an_unknown_task_lists_the_known_ones():
    with pytest.raises(InputError, match="no task 'glue'; the tasks are snli mnli"):
        task("glue")
