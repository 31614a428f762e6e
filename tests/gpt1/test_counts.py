"""Word counts: the same file whether they fit into memory or not."""

import random
from collections import Counter

import pytest

from gpt1.text.counts import WordCounts


@pytest.mark.parametrize("most", [1, 7, 50, 10**6])
def test_the_file_does_not_depend_on_the_memory(most, tmp_path):
    random.seed(0)
    words = ["a", "Ω", "\u007f", "\U0001f600", "\uffff", *(f"w{i}" for i in range(60))]
    parts = [Counter(random.choices(words, k=random.randint(0, 80))) for _ in range(20)]
    with WordCounts(tmp_path / "files", most) as counts:
        for part in parts:
            counts.add(part)
            assert len(counts.counts) <= most
        n = counts.write(tmp_path / "words.tsv")
        assert (tmp_path / "files").exists() == (most < 65)
    total = sum(parts, Counter())
    rows = sorted(total.items(), key=lambda row: (-row[1], row[0]))
    expected = "".join(f"{word}\t{count}\n" for word, count in rows)
    assert (tmp_path / "words.tsv").read_bytes().decode() == expected
    assert n == len(total) and not (tmp_path / "files").exists()


def test_files_of_a_run_that_was_killed_count_nothing(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "0.tsv").write_text("old\t5\n")
    with WordCounts(tmp_path / "files", 1) as counts:
        counts.add({"a": 1, "b": 2})
        counts.write(tmp_path / "words.tsv")
    assert (tmp_path / "words.tsv").read_text() == "b\t2\na\t1\n"


def test_no_words_make_an_empty_file(tmp_path):
    with WordCounts(tmp_path / "files") as counts:
        assert counts.write(tmp_path / "words.tsv") == 0
    assert (tmp_path / "words.tsv").read_bytes() == b""
