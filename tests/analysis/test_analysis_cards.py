"""Data cards: numbers that fit the rows and the windows, and pages that show texts as they are."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from gpt1.encode import encode
from gpt1.text import tokenizer as bpe
from gpt1.text import vocabulary
from gpt1.training import batching
from gpt1.training.encoded import EncodedSplit
from tasks import prepare, task
from tasks.catalogue import entry
from tasks.common.errors import InputError
from tasks.common.files import write_json
from tasks.examples import write_examples
from tasks.splits import Settings
from tests.tasks import conftest as published_files
from tests.tasks.hub_files import snapshot
from workflow.analysis import cards

MADE = Settings(published=False)


def put(results: Path, name: str, folder: Path, settings: Settings = MADE) -> None:
    """The examples and the encoded file of a task, as the rules make them."""
    examples, meta = prepare.prepare(task(name), folder, settings)
    path = results / "examples" / f"{name}.jsonl"
    write_examples(path, examples)
    write_json(path.with_suffix(".json"), meta)
    tokenizer = results / "tokenizer"
    if not tokenizer.is_dir():
        words = ["train", "dev", "test", "fact", "guess", "why", "story", "a", "?", "0", "1", "2"]
        tokenizer.mkdir(parents=True)
        vocabulary.save(tokenizer, *bpe.train(dict.fromkeys(words, 5), 20))
    encode(name, path, tokenizer, results / "encoded" / f"{name}.npz")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Results of RTE, RACE and STS-B out of the tests' small files."""
    for name in ("rte", "race", "stsb"):
        folder = tmp_path / "data" / name
        getattr(published_files, name)(folder)
        put(tmp_path, name, folder)
    return tmp_path


def random_split(family: str, question: bool) -> EncodedSplit:
    """Forty inputs of all lengths around the windows of the test."""
    rng = np.random.default_rng(3)

    def texts(low: int, high: int) -> list[np.ndarray]:
        return [np.ones(n, dtype=np.int32) for n in rng.integers(low, high, 40)]

    paired = family in ("entailment", "similarity") or question
    choices = (
        list(zip(texts(1, 14), texts(1, 14), strict=True)) if family == "choice" else [()] * 40
    )
    second = texts(1, 14) if paired else texts(0, 1)
    return EncodedSplit(
        **{"guids": [""] * 40, "groups": [""] * 40, "labels": np.zeros(40)},
        **{"first": texts(1, 30), "second": second, "choices": [list(c) for c in choices]},
    )


@pytest.mark.parametrize("n_ctx", [12, 24, 40, 80])
@pytest.mark.parametrize(
    ("family", "question"),
    [
        *((family, False) for family in ("classification", "entailment", "similarity", "choice")),
        ("choice", True),
    ],
)
def test_lengths_and_truncation_are_those_of_the_batches(family, question, n_ctx):
    split = random_split(family, question)
    special = batching.Special(1, 2, 3)
    cut = cards.truncated(family, split, n_ctx)
    assert cut.mean() == batching.build(family, split, special, n_ctx).truncated
    whole = batching.build(family, split, special, 1000)
    assert cards.lengths(family, split).tolist() == whole.lengths.max(1).tolist()


def test_a_card_holds_what_the_rows_are(made):
    found = cards.card(made, "rte", 16)
    assert {split: part["rows"] for split, part in found["splits"].items()} == {
        **{"train": 9, "select": 1, "dev": 10}
    }
    assert list(found["splits"]) == ["train", "select", "dev"]
    assert found["splits"]["dev"]["labels"] == {"entailment": 5, "not_entailment": 5}
    for part in found["splits"].values():
        assert sum(part["histogram"]) == part["rows"]
        tokens = part["tokens"]
        assert 5 <= tokens["shortest"] <= tokens["median"] <= tokens["p95"] <= tokens["longest"]
    assert len(found["edges"]) == len(found["splits"]["dev"]["histogram"]) + 1
    assert [row["label"] for row in found["examples"]][:2] == ["not_entailment", "entailment"]
    assert found["examples"][0]["first"].startswith("train fact")
    assert found["licence"] == "none needed: made by the embedded world"


def test_a_published_set_is_told_with_its_licence_files_and_subset(tmp_path):
    folder = tmp_path / "data"
    published_files.rte(folder)
    put(tmp_path, "rte", folder, Settings(min_rows={"train": 10, "dev": 10}))
    text = cards.page(cards.card(tmp_path, "rte", 64), "rte.png")
    assert f"- Licence: {entry('rte').licence}." in text
    assert re.search(
        r"- From: files in their original layout: dev.tsv \(sha256 [0-9a-f]{12}\)", text
    )
    assert "- Rows: train: 10 of 2,490 rows; dev: 10 of 277 rows." in text


def test_a_set_of_the_hub_is_told_with_its_commit(tmp_path):
    rows = [
        {"sentence1": f"fact {k}", "sentence2": f"guess {k}", "label": k % 2, "idx": k}
        for k in range(20)
    ]
    hub = snapshot(tmp_path / "hub", "rte", {"train": [rows[:10]], "dev": [rows[10:]]})
    put(tmp_path, "rte", hub, Settings(source="hub", min_rows={"train": 10, "dev": 10}))
    text = cards.page(cards.card(tmp_path, "rte", 64), "rte.png")
    assert f"- From: the hub's nyu-mll/glue (rte) at commit {entry('rte').revision}." in text


def test_dropped_rows_and_overlap_are_told(tmp_path):
    folder = tmp_path / "data"
    published_files.snli(folder)
    lines = (folder / "snli_1.0_train.jsonl").read_text()
    (folder / "snli_1.0_dev.jsonl").write_text(lines)
    put(tmp_path, "snli", folder)
    text = cards.page(cards.card(tmp_path, "snli", 64), "snli.png")
    assert "- Dropped: dev: no gold label 1; test: no gold label 1; train: no gold label 1." in text
    assert "- Rows that are training rows too, before any limit: select 3." in text


@pytest.mark.parametrize("name", ["race", "story_cloze"])
def test_rows_that_may_not_be_passed_on_are_told_to_be_so(name, made):
    found = cards.card(made, "rte", 16)
    assert "Caution" not in cards.page(found, "rte.png")
    text = cards.page(found | {"caution": entry(name).caution}, "rte.png")
    assert re.search("- Caution: .*the rows that this card shows are not to be passed on", text)


def test_texts_are_shortened_and_shown_as_they_are():
    assert cards._short("word " * 99) == ("word " * 99)[:158].rstrip() + " …"
    row = {"first": "a *b* | <i>c</i> `d` ``e", "second": "", "choices": ["x", "y"], "label": "A"}
    body = cards.MarkdownIt().render(cards._shown(1, row))
    assert "<code>a *b* | &lt;i&gt;c&lt;/i&gt; `d` ``e</code>" in body
    assert "<code>x</code> / <code>y</code> → <strong>A</strong>" in body


def test_the_program_writes_every_card_the_same_each_time(made, monkeypatch):
    out = made / "data_cards.md"
    settings = json.dumps({"tasks": ["rte", "race", "stsb"], "n_ctx": 16})
    call = ["cards", "--results", str(made), "--settings", settings, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", call)
    seen = []
    for _ in range(2):
        cards.main()
        files = sorted((made / "cards").iterdir())
        seen.append([path.read_bytes() for path in [out, *files]])
    assert seen[0] == seen[1]
    assert [path.name for path in files] == [
        f"{name}.{form}" for name in ("race", "rte", "stsb") for form in sorted(FORMS)
    ]
    text = out.read_text(encoding="utf-8")
    assert [f"## {title}" in text for title in ("RTE", "RACE", "STS-B")] == [True] * 3
    assert "![Token lengths and labels of RACE](cards/race.png)" in text
    page = (made / "cards" / "race.html").read_text(encoding="utf-8")
    assert 'src="data:image/png;base64,iVBOR' in page and "<table>" in page
    assert page.count("<li>") == 3 + 3  # facts, examples
    assert "→ <strong>D</strong>" in page
    assert json.loads((made / "cards" / "rte.json").read_text())["n_ctx"] == 16


FORMS = ("json", "md", "html", "png", "svg")


def test_encoded_rows_of_other_examples_are_told(made):
    meta = made / "examples" / "rte.json"
    changed = json.loads(meta.read_text())
    changed["rows"]["dev"] = 9
    meta.write_text(json.dumps(changed))
    with pytest.raises(InputError, match="rte.npz: its rows are not those of examples/rte.json"):
        cards.card(made, "rte", 16)
    (made / "encoded" / "rte.npz").unlink()
    with pytest.raises(InputError, match="no such file"):
        cards.card(made, "rte", 16)
