"""A kept cell exported to Hugging Face: `transformers` answers as the suite does."""

import re
import shutil
from importlib.metadata import version

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard
from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

from gpt1 import convert
from gpt1.convert import VERSIONS, export_cell
from gpt1.predict import Predictor, Row
from gpt1.settings import FinetuneMethod, TransformerShape
from gpt1.training import cell_files
from gpt1.weights.checkpoint import read_tensors, write_tensors
from tasks import PAPER_TASKS, task
from tasks.common.files import MANIFEST, described, read_json, read_manifest, write_json
from tasks.settings import OwnTask
from tests.facts import EXAMPLES
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import SEEDS, TASKS, kept_cell, write_checkpoint, write_task
from tests.gpt1.examples import CHARACTERS
from tests.support.programs import call, refused
from tests.tasks import conftest as published_files

SHAPE = TransformerShape(n_layer=2, n_embd=16, n_head=4, n_ff=64)  # n_ff as the format has it


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Of each task the folder of a kept cell and its reported rows."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(toy.SHAPES, "transformer", SHAPE)
        for name in TASKS:
            folder = tmp_path_factory.mktemp(name)
            rows = write_task(folder, name)
            cell, _ = kept_cell(folder, name)
            found[name] = cell.kept(folder), rows[task(name).main]
    return found


def answered(folder, name, rows):
    """What `transformers` makes of the rows by the card's example: probabilities, or a score."""
    own, found = task(name), []
    card = (folder / "README.md").read_text().replace(f"NAME/{folder.name}", str(folder))
    if own.family == "classification":
        (ask,) = re.findall(r"`(pipeline.*?)`", card)
        texts = [row["first"] for row in rows]
        answers = eval(ask.replace('"a text"', repr(texts)), {"pipeline": pipeline})
        named = [{one["label"]: one["score"] for one in answer} for answer in answers]
        return [[answer[label] for label in own.labels] for answer in named]
    (code,) = re.findall(r"```python\n(.*?)\n```", card, re.DOTALL)
    load, _, ask = code.rpartition("\n\n")
    exec(load, names := {})
    for row in rows:
        first, second = row["first"], row.get("second", "")
        texts = f"{first!r}, {second!r}" if row["choices"] and second else repr(first)
        given = {'("one end", "another")': tuple(row["choices"])} if row["choices"] else {}
        asked = ask.replace('"a text"', texts)
        for words, value in {**given, '"another"': second}.items():
            asked = asked.replace(words, repr(value))
        exec(asked, names)
        shares = names["probabilities"]
        mean = float(shares.detach() @ torch.arange(float(len(shares))))
        found.append(mean if own.soft_labels else shares.tolist())
    return found


def longer(row):
    """The row with texts above the room that they have, and with an unknown character."""
    long = f"b ☃ {' '.join(CHARACTERS * 4)}"
    for keys in (["first"], ["second"], ["first", "second"]):
        yield row | {key: long for key in keys if key in row}
    if choices := row["choices"]:
        yield row | {"choices": [f"{long} c", *choices[1:]]}


@pytest.mark.parametrize("name", TASKS)
def test_transformers_gives_the_answers_of_the_suite(made, name, monkeypatch, tmp_path):
    folder, rows = made[name]
    rows = [*rows, *longer(rows[0])]
    out, seed = tmp_path / "model", SEEDS[1]
    bias = torch.tensor([0.07, -0.04, 0.02, 0.01, -0.03, 0.05])
    begin = Predictor.__init__

    def biased(self, *given):  # a bias that the few updates of a test do not make
        begin(self, *given)
        with torch.no_grad():
            self.model.classifier.bias.copy_(bias[: len(self.model.classifier.bias)])

    monkeypatch.setattr(Predictor, "__init__", biased)
    done = call(convert.main, "export", folder, "--out", out, "--seed", seed)
    assert done.returncode == 0, done.stderr
    assert f"hf upload NAME/model {out}" in done.stdout
    card = (out / "README.md").read_text()
    record = cell_files.read_kept(folder)
    (run,) = [run for run in record.seeds if run.seed == seed]
    score = run.scores[task(name).main][record.metric]
    assert (
        f"seed {seed}, " in card
        and f"| {task(name).main} | {record.metric} | {score:.1f} |" in card
    )
    results = ModelCard(card).data.eval_results or []
    assert bool(results) == ("rows" not in record.made)  # a score on made rows is of no data set
    main = (task(name).main.replace("dev", "validation"), record.metric)
    of_main = [of for of in results if (of.dataset_split, of.metric_type) == main]
    assert all(of.metric_value == round(score, 3) for of in of_main)
    shown = card.count("\n| ") - 1 - card.count("\n| select ")
    assert not results or len(results) == shown
    given = [
        Row(text=r["first"], second=r.get("second", ""), choices=r.get("choices", [])) for r in rows
    ]
    predictions, shares = Predictor(folder, seed).answer(given, "rows")
    expected = predictions if task(name).soft_labels else shares
    assert np.array(answered(out, name, rows)) == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected, axis=0).max() > 1e-3


def test_pads_are_no_unknown_characters_so_that_any_version_reads_the_last_token(made, tmp_path):
    export_cell(made["rte"][0], tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    first, second = ["a ☃ b", "☃"], ["c", "d ☃ e f g"]
    batch = tokenizer(first, second, padding=True, return_tensors="pt")
    pads = (batch["input_ids"] == model.config.pad_token_id).int()
    before = (pads.argmax(1) - 1) % pads.shape[1]  # where versions before 4.49 read
    assert before.tolist() == (batch["attention_mask"].sum(1) - 1).tolist()
    rows = zip(first, second, strict=True)
    alone = [model(**tokenizer(*row, return_tensors="pt")).logits for row in rows]
    assert torch.allclose(model(**batch).logits, torch.cat(alone), atol=1e-6)
    assert version("transformers").rpartition(".")[0] in VERSIONS  # what the card names as checked


@pytest.mark.parametrize(
    ("rows", "books", "texts"), [(1, 1, "rows and books"), (1, 0, "rows"), (0, 1, "books")]
)
def test_made_data_are_told_first_and_in_the_json(rows, books, texts, tmp_path, monkeypatch):
    monkeypatch.setitem(toy.SHAPES, "transformer", SHAPE)
    monkeypatch.setitem(EXAMPLES, "settings", {"published": not rows})
    write_task(tmp_path, "rte")
    write_checkpoint(tmp_path, "transformer", made=bool(books))
    cell, _ = kept_cell(tmp_path, "rte")
    assert read_json(cell.path(tmp_path))["made"] == texts.split(" and ")
    checkpoint = tmp_path / "transformer.safetensors"
    for source, is_made in ((cell.kept(tmp_path), True), (checkpoint, bool(books))):
        out = tmp_path / f"of-{source.stem}"
        done = call(convert.main, "export", source, "--out", out)
        assert ("made data" in done.stdout, "hf upload" in done.stdout) == (is_made, not is_made)
        of = texts if source.is_dir() else "books"
        first = (out / "README.md").read_text().split("\n\n")[2]
        assert first.startswith(f"**Made data.** Its {of} are of") == is_made


@pytest.mark.parametrize(
    ("arch", "options", "told"),
    [
        ("lstm", {}, "GPT-1's blocks alone, found LSTMShape"),
        ("transformer", {"method": FinetuneMethod(read_layer=0)}, "found a classifier on the"),
        ("transformer", {}, "n_ff: expected 128"),
    ],
)
def test_what_the_format_does_not_hold_is_told_in_a_line(tmp_path, arch, options, told):
    write_task(tmp_path, "rte")
    cell, _ = kept_cell(tmp_path, "rte", arch=arch, **options)
    assert told in refused(convert.main, "export", cell.kept(tmp_path), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_lower_layer_that_is_read_is_the_last_one(tmp_path, monkeypatch):
    monkeypatch.setitem(toy.SHAPES, "transformer", SHAPE)
    write_task(tmp_path, "rte")
    cell, _ = kept_cell(tmp_path, "rte", method=FinetuneMethod(read_layer=1))
    export_cell(cell.kept(tmp_path), tmp_path / "out")
    assert read_json(tmp_path / "out" / "config.json")["n_layer"] == 1


def test_an_option_that_does_not_fit_is_one_line_and_nothing_is_written(made, tmp_path):
    words = ("export", made["rte"][0], "--out", tmp_path / "out", "--tokenizer", ".")
    assert "is no checkpoint; leave the option out" in refused(convert.main, *words)
    assert not (tmp_path / "out").exists()


# What each word of the published files means where it is not the label's own name (GLUE's own
# documentation; the hub's names of the classes).
MEANT = {
    "sst2": {"0": "negative", "1": "positive"},
    "cola": {"0": "unacceptable", "1": "acceptable"},
    "mrpc": {"0": "not_equivalent", "1": "equivalent"},
    "qqp": {"0": "not_duplicate", "1": "duplicate"},
    "scitail": {"entails": "entailment"},
}
LABELLED = [t for t in PAPER_TASKS if not t.soft_labels and t.family != "multiple_choice"]
NAMED = [(each.name, None, MEANT.get(each.name, {})) for each in LABELLED]
NAMED.append(("listed", {"labels": ["zinc", "ash", "oak"]}, {}))
NAMED.append(("mapped", {"labels": {"b": "so", "a": "no"}}, {"b": "so", "a": "no"}))


@pytest.mark.parametrize(("name", "own", "meant"), NAMED, ids=[case[0] for case in NAMED])
def test_a_classes_name_is_that_of_its_word_in_the_training_file(name, own, meant, made, tmp_path):
    if own:
        own = OwnTask(kind="pair", files="rows.csv", **own).model_dump(mode="json")
    found = task(name, own)
    if own:
        lines = [f"a {k},b,{word}" for k, word in enumerate(found.coding or found.labels)]
        (tmp_path / "rows.csv").write_text("\n".join(["text,second,label", *lines]))
    else:
        published_files.write(name, tmp_path)
    words = {row.key: row.label for row in found.read_rows(tmp_path, found.train)}
    examples = found.read(tmp_path, found.train)
    classes = {words[row.guid.rpartition("/")[2]]: row.label for row in examples}
    assert {*classes.values()} == {*range(len(found.labels))}
    for word, number in classes.items():
        folder = shutil.copytree(made["rte"][0], tmp_path / word / "kept")
        tensors = read_tensors(folder / f"seed-{SEEDS[0]}.safetensors")
        bias = 9.0 * torch.eye(len(found.labels))[number]  # it always answers this class
        tensors |= {"classifier.weight": torch.zeros(16, len(bias)), "classifier.bias": bias}
        write_tensors(folder / f"seed-{SEEDS[0]}.safetensors", tensors)
        record = {"task": name, "own": own, "family": found.family}
        write_json(folder / "cell.json", read_json(folder / "cell.json") | record)
        files = described(folder, read_manifest(folder, "")["files"])
        write_json(folder / MANIFEST, {"files": files})
        second = "" if found.family == "classification" else "b"
        answer = Predictor(folder).predict({"text": "a", "second": second})
        export_cell(folder, tmp_path / word / "out", SEEDS[0])
        config = read_json(tmp_path / word / "out" / "config.json")
        likeliest = answer.drop(columns="prediction").idxmax(axis=1).str.removeprefix("p_")
        said = {*answer["prediction"], *likeliest, config["id2label"][str(number)]}
        assert said == {meant.get(word, word)} and config["label2id"] == {
            label: int(k) for k, label in config["id2label"].items()
        }
