"""Data cards: numbers that fit the rows and the windows, and pages that show texts as they are."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from gpt1 import encode
from gpt1.text import tokenizer
from tasks import prepare, task
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.analysis.conftest import make_grid, write
from tests.gpt1.corpora import write_words
from tests.tasks import conftest as published_files
from workflow.analysis import cards

WORDS = ("train", "dev", "test", "fact", "guess", "why", "story", "a", "?", "0", "1", "2")


def run(main: Callable[[], None], *arguments: object) -> None:
    with patch.object(sys, "argv", ["program", *map(str, arguments)]):
        main()


def put(results: Path, name: str, **settings: object) -> None:
    """The examples and the encoded rows of a task, as the rules make them."""
    data, examples, encoded = (results / k / name for k in ("data", "examples", "encoded"))
    if not data.exists():
        getattr(published_files, name)(data)
    given = json.dumps({"published": False, **settings})
    files = ["--out", examples, "--facts", f"{examples}.json"]
    run(prepare.main, name, "--folder", data, "--settings", given, *files)
    folder = results / "tokenizer"
    if not folder.is_dir():
        words = write_words(results, "".join(f"{word}\t5\n" for word in WORDS))
        run(tokenizer.main, "train", "--documents", words, "--merges", 20, "--out", folder)
    files = ["--out", encoded, "--facts", f"{encoded}.json"]
    run(encode.main, name, "--examples", examples, "--tokenizer", folder, *files)


def change(path: Path, **values: object) -> None:
    write(path, read_json(path) | values)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Results of RTE, RACE and STS-B out of the tests' small files."""
    for name in ("rte", "race", "stsb"):
        put(tmp_path, name)
    return tmp_path


def test_lengths_and_truncation_are_those_that_encoding_counted(made):
    path = made / "encoded" / "rte.json"
    facts = read_json(path)
    rows = facts["splits"]["dev"]["rows"]
    facts["splits"]["dev"] |= {"lengths": {"7": rows - 4, "30": 4}}
    facts["splits"]["dev"] |= {"n_ctx_needed": {"16": rows - 3, "17": 3}}
    write(path, facts)
    found = cards.card(made, "rte", 16)["splits"]["dev"]
    assert found["truncated"] == pytest.approx(3 / rows)
    assert found["tokens"]["longest"] == 30 and found["tokens"]["shortest"] == 7
    assert found["tokens"]["mean"] == pytest.approx((7 * (rows - 4) + 120) / rows)
    assert cards.card(made, "rte", 17)["splits"]["dev"]["truncated"] == 0
    assert np.flatnonzero(found["histogram"]).size == 2


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


def test_a_published_set_has_its_licence_files_and_subset(tmp_path):
    put(tmp_path, "rte", published=True, min_rows={"train": 10, "dev": 10})
    text = cards.page(cards.card(tmp_path, "rte", 64), "rte.png")
    assert f"- Licence: {task('rte').hub.licence}." in text
    assert re.search(
        r"- From: files in their original layout: dev.tsv \(sha256 [0-9a-f]{12}\)", text
    )
    assert "- Rows: train: 10 of 2,490 rows; dev: 10 of 277 rows." in text


def test_a_set_of_the_hub_has_its_commit(tmp_path):
    put(tmp_path, "rte", published=True, min_rows={"train": 10, "dev": 10})
    origin = {"source": "hub", "repo": "nyu-mll/glue", "config": "rte", "revision": "c0ffee"}
    change(tmp_path / "examples" / "rte.json", origin=origin)
    text = cards.page(cards.card(tmp_path, "rte", 64), "rte.png")
    assert "- From: the hub's nyu-mll/glue (rte) at commit c0ffee." in text


def test_dropped_rows_and_overlap_are_stated(tmp_path):
    folder = tmp_path / "data" / "snli"
    published_files.snli(folder)
    lines = (folder / "snli_1.0_train.jsonl").read_text()
    (folder / "snli_1.0_dev.jsonl").write_text(lines)
    put(tmp_path, "snli")
    text = cards.page(cards.card(tmp_path, "snli", 64), "snli.png")
    assert "- Dropped: dev: no gold label 1; test: no gold label 1; train: no gold label 1." in text
    assert "- Rows that are training rows too, before any limit: select 3." in text
    assert "- Rows with a text of a training row: select 3, test 3." in text
    assert "CSV quoting" not in text
    change(tmp_path / "examples" / "snli.json", unquoted={"train": 2})
    text = cards.page(cards.card(tmp_path, "snli", 64), "snli.png")
    assert "- Rows whose CSV quoting was undone: train 2." in text


@pytest.mark.parametrize("name", ["race", "story_cloze"])
def test_rows_that_may_not_be_passed_on_carry_a_caution(name, made):
    found = cards.card(made, "rte", 16)
    assert "Caution" not in cards.page(found, "rte.png")
    text = cards.page(found | {"caution": task(name).hub.caution}, "rte.png")
    assert re.search("- Caution: .*the rows that this card shows are not to be passed on", text)


def test_texts_are_shortened_and_shown_as_they_are():
    assert cards._short("word " * 99) == ("word " * 99)[:158].rstrip() + " …"
    row = {"first": "a *b* | <i>c</i> `d` ``e", "second": "", "choices": ["x", "y"], "label": "A"}
    body = cards.MarkdownIt().render(cards._shown(1, row))
    assert "<code>a *b* | &lt;i&gt;c&lt;/i&gt; `d` ``e</code>" in body
    assert "<code>x</code> / <code>y</code> → <strong>A</strong>" in body


def test_the_program_writes_every_card_the_same_each_time(made):
    out = made / "data_cards.md"
    grid = make_grid("rte", examples=["rte", "race", "stsb"]).to_json()
    call = ["--results", str(made), "--grid", grid, "--n-ctx", "16", "--out", str(out)]
    seen = []
    for _ in range(2):
        cards.main(call)
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


def test_encoded_rows_of_other_examples_are_refused(made):
    path = made / "examples" / "rte.json"
    digests = read_json(path)["sha256"]
    change(path, sha256=digests | {"dev": "other rows"})
    with pytest.raises(InputError, match=r"rte.json: its dev rows are not those of .*examples"):
        cards.card(made, "rte", 16)
    (made / "encoded" / "rte.json").unlink()
    with pytest.raises(InputError, match="no such file"):
        cards.card(made, "rte", 16)


def test_unlabelled_rows_are_on_no_card(made):
    path = made / "encoded" / "rte.json"
    facts = read_json(path)
    facts["splits"]["test"] = facts["splits"]["dev"] | {"role": "unlabelled"}
    write(path, facts)
    assert list(cards.card(made, "rte", 16)["splits"]) == ["train", "select", "dev"]
