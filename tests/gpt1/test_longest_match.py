"""The longest run of words that a row shares with the books, against a search of every run."""

import json

import numpy as np
import pytest

from gpt1 import corpus
from gpt1.longest_match import SHORTEST, longest_match, match_tasks
from gpt1.text.settings import CorpusSettings
from tests.gpt1.examples import write_examples


def slow(row: list[np.ndarray], documents: list[np.ndarray], shortest: int) -> int:
    runs = {
        tuple(of[i:j].tolist())
        for of in documents
        for i in range(len(of))
        for j in range(i + 1, len(of) + 1)
    }
    found = [
        j - i
        for text in row
        for i in range(len(text))
        for j in range(i + 1, len(text) + 1)
        if tuple(text[i:j].tolist()) in runs
    ]
    longest = max(found, default=0)
    return longest if longest >= shortest else 0


@pytest.mark.parametrize("shortest", [1, 3])
def test_the_longest_match_is_that_of_a_search_of_every_run(shortest):
    rng = np.random.default_rng(1)

    def text(n: int) -> np.ndarray:
        return rng.integers(1, 4, n).astype(np.int32)

    documents = [text(60), text(40)]
    rows = [[text(n), text(m)] for n, m in rng.integers(0, 14, (40, 2))]
    rows += [[documents[0][7:33]], [np.concatenate((documents[0][-5:], documents[1][:5]))]]
    blocks = [[of[:11], of[11:]] for of in documents]  # a run may cross blocks, not documents
    found = longest_match(rows, blocks, shortest)
    assert found == [slow(row, documents, shortest) for row in rows]
    assert found[-2] == 26 and max(found) == 26


def test_rows_have_their_length_and_their_match_in_words(tmp_path):
    said = "Ruth bought a lamp in the old town, they say."
    for name, text in (
        ("a.txt", f"{said}\nTom ran."),
        ("held.txt", "Nora left the inn in the fog."),
    ):
        (tmp_path / "books").mkdir(exist_ok=True)
        (tmp_path / "books" / name).write_text(text, encoding="utf-8")
    settings = CorpusSettings(heldout=["held.txt"])
    corpus.documents(tmp_path / "books", settings, tmp_path / "documents")
    rows = [
        {"first": said},
        {"first": "ruth bought a lamp in the new town, they say."},
        {"first": "Nora left the inn in the fog."},
        {"first": "they say. Tom ran."},
    ]
    write_examples(tmp_path / "examples" / "cola", "cola", {"dev": rows})
    match_tasks(["cola"], tmp_path / "documents", tmp_path / "examples", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "cola.json").read_text())
    assert found["split"] == "dev" and found["words"] == [12, 12, 8, 6]
    assert found["match"] == [12, 6, 0, 6] and SHORTEST == 5
