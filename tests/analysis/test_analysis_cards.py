"""Data cards: numbers that fit the rows and the windows, and pages that show texts as they are."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from markdown_it import MarkdownIt

from gpt1 import encode
from gpt1.text import tokenizer
from tasks import prepare, task
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.analysis.conftest import make_grid, write
from tests.gpt1.corpora import write_words
from tests.tasks import conftest as published_files
from workflow.analysis import card_figure, cards
from workflow.analysis.card import Card

WORDS = ("train", "dev", "test", "fact", "guess", "why", "story", "a", "?", "0", "1", "2")


def run(main: Callable[[], None], *arguments: object) -> None:
    with patch.object(sys, "argv", ["program", *map(str, arguments)]):
        main()


def put(results: Path, name: str, **settings: object) -> None:
    """The examples and the encoded rows of a task, as the rules make them."""
    data, examples, encoded = (results / k / name for k in ("data", "examples", "encoded"))
    if not data.exists():
        published_files.write(name, data)
    given = json.dumps({"published": False, **settings})
    files = ["--out", examples, "--facts", f"{examples}.json"]
    run(prepare.main, name, "--folder", data, "--settings", given, *files)
    folder = results / "tokenizer"
    if not folder.is_dir():
        words = write_words(results, "".join(f"{word}\t5\n" for word in WORDS))
        run(tokenizer.main, "train", "--documents", words, "--merges", 20, "--out", folder)
    run(encode.main, name, "--examples", examples, "--tokenizer", folder, "--out", encoded)


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
    card = Card.read(made, "rte", 16)
    assert card.lengths["dev"].tolist() == [7] * (rows - 4) + [30] * 4
    assert card.truncated["dev"] == pytest.approx(3 / rows)
    assert Card.read(made, "rte", 17).truncated["dev"] == 0
    line = next(line for line in cards.page(card, "").splitlines() if line.startswith("| dev"))
    assert line.split("|")[-3].strip() == "30" and line.split("|")[-2].strip() == f"{3 / rows:.1%}"


def test_a_card_holds_what_the_rows_are(made):
    card = Card.read(made, "rte", 16)
    rows = {split: len(lengths) for split, lengths in card.lengths.items()}
    assert rows == {"train": 9, "select": 1, "dev": 10} and [*rows] == ["train", "select", "dev"]
    assert card.shares("dev") == {"entailment": 0.5, "not_entailment": 0.5}
    text = cards.page(card, "rte.png")
    assert re.findall(r"\*\*(\w+)\*\*", text)[:2] == ["not_entailment", "entailment"]
    assert "1. `train fact" in text and "- Licence: none needed: made by the embedded world" in text


def test_the_figure_has_the_share_of_each_length_and_label(made):
    card = Card.read(made, "rte", 16)
    left, right = card_figure.draw(card).axes
    for step, lengths in zip(left.patches, card.lengths.values(), strict=True):
        counts, edges, _ = step.get_data()
        assert counts.sum() == pytest.approx(100)
        assert counts @ edges[:-1] / 100 <= lengths.mean()
    for bars, split in zip(right.containers, card.lengths, strict=True):
        shares = [100 * share for share in card.shares(split).values()]
        assert [bar.get_width() for bar in bars] == pytest.approx(shares)


def test_a_published_set_has_its_licence_origin_and_subset(tmp_path):
    put(tmp_path, "rte", published=True, min_rows={"train": 10, "dev": 10})
    text = cards.page(Card.read(tmp_path, "rte", 64), "rte.png")
    assert f"- Licence: {task('rte').hub.licence}." in text
    files = r"- From: files in their original layout: dev.tsv \(sha256 [0-9a-f]{12}\)"
    assert re.search(files, text)
    assert "- Rows: train: 10 of 2,490 rows; dev: 10 of 277 rows." in text
    origin = {"source": "hub", "repo": "nyu-mll/glue", "config": "rte", "revision": "c0ffee"}
    change(tmp_path / "examples" / "rte.json", origin=origin)
    text = cards.page(Card.read(tmp_path, "rte", 64), "rte.png")
    assert "- From: the hub's nyu-mll/glue (rte) at commit c0ffee." in text


def test_rows_of_the_users_own_are_not_taken_for_the_published_ones(tmp_path):
    put(tmp_path, "rte", own=True)
    card = Card.read(tmp_path, "rte", 64)
    text = cards.page(card, "rte.png")
    assert not card.is_synthetic and task("rte").hub.licence not in text
    assert "- Licence: yours to state." in text and "files in the layout of RTE: dev.tsv" in text
    assert "- Rows: own data, not the published set." in text


def test_dropped_rows_and_overlap_are_stated(tmp_path):
    folder = tmp_path / "data" / "snli"
    published_files.write("snli", folder)
    lines = (folder / "snli_1.0_train.jsonl").read_text()
    (folder / "snli_1.0_dev.jsonl").write_text(lines)
    put(tmp_path, "snli")
    text = cards.page(Card.read(tmp_path, "snli", 64), "snli.png")
    assert "- Dropped: dev: no gold label 1; test: no gold label 1; train: no gold label 1." in text
    assert "- Rows that are training rows too, before any limit: select 3." in text
    assert "- Rows with a text of a training row: select 3, test 3." in text
    assert "CSV quoting" not in text
    change(tmp_path / "examples" / "snli.json", unquoted={"train": 2})
    text = cards.page(Card.read(tmp_path, "snli", 64), "snli.png")
    assert "- Rows whose CSV quoting was undone: train 2." in text


def test_rows_that_may_not_be_passed_on_carry_a_caution(made):
    assert "Caution" not in cards.page(Card.read(made, "race", 16), "race.png")
    facts = read_json(made / "examples" / "race.json")
    facts["settings"]["published"] = True
    write(made / "examples" / "race.json", facts)
    text = cards.page(Card.read(made, "race", 16), "race.png")
    assert re.search("- Caution: .*the rows that this card shows are not to be passed on", text)
    assert "not to be passed on" in task("story_cloze").hub.caution


def test_texts_are_shortened_and_shown_as_they_are(made):
    assert cards._literal("word " * 99) == "`" + ("word " * 99)[:158].rstrip() + " …`"
    text = "a *b* | <i>c</i> `d` ``e"
    assert "<code>a *b* | &lt;i&gt;c&lt;/i&gt; `d` ``e</code>" in MarkdownIt().render(
        cards._literal(text)
    )
    row = {"first": "", "second": "", "choices": ["x", "y"], "label": "1"}
    assert cards._example(Card.read(made, "rte", 16), row).startswith("`x` / `y` → **")


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
        f"{name}.{form}" for name in ("race", "rte", "stsb") for form in ("md", "pdf", "png", "svg")
    ]
    text = out.read_text(encoding="utf-8")
    assert [f"## {title}" in text for title in ("RTE", "RACE", "STS-B")] == [True] * 3
    assert "![Token lengths and labels of RACE](cards/race.png)" in text


def test_encoded_rows_of_other_examples_are_refused(made):
    path = made / "examples" / "rte.json"
    digests = read_json(path)["sha256"]
    change(path, sha256=digests | {"dev": "other rows"})
    with pytest.raises(InputError, match=r"rte.json: its dev rows are not those of .*examples"):
        Card.read(made, "rte", 16)
    change(path, labels=[])
    with pytest.raises(
        InputError, match=r"examples/rte.json: labels: found \[\]; .*run its job again"
    ):
        Card.read(made, "rte", 16)
    (made / "encoded" / "rte.json").unlink()
    change(path, labels={})
    with pytest.raises(InputError, match="no such file"):
        Card.read(made, "rte", 16)


def test_unlabelled_rows_are_on_no_card(made):
    path = made / "encoded" / "rte.json"
    facts = read_json(path)
    facts["splits"]["test"] = facts["splits"]["dev"] | {"role": "unlabelled"}
    write(path, facts)
    assert list(Card.read(made, "rte", 16).lengths) == ["train", "select", "dev"]
