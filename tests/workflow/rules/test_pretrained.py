"""A run that starts from published weights: its config, its graph, and one run from end to end."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gpt1.settings import ModelSettings, TransformerShape
from gpt1.text import tokenizer as bpe
from gpt1.text import vocabulary
from gpt1.weights.published import import_weights
from tasks.world.make import make_world
from tasks.world.settings import WorldSettings
from tests.gpt1.weights.published_files import arrays_of, write_weights
from tests.workflow.configs import ROOT, changed, faults, raw_data, shipped, small
from tests.workflow.running import command_line, planned, snakemake, with_config

PRETRAINED = {"path": "gpt", "updates": 37}
MODEL = ModelSettings(
    n_ctx=48, init_std=0.1, shape=TransformerShape(n_layer=12, n_embd=16, n_head=2, n_ff=64)
)


def from_weights(data: Path | None, **pretrained: Any) -> dict[str, Any]:
    """A small config that starts from published weights under `data`; None: tasks of the world."""
    config = small()
    experiment = config["experiment"]
    del experiment["corpus"], experiment["pretrain"]
    experiment["seeds"] = {"finetune": [0, 1]}
    experiment |= {"pretrained": PRETRAINED | pretrained, "tokenizer": {"folder": "bpe"}}
    if data is not None:
        del experiment["world"]
        config["data"] = str(data)
        raw_data(data, config)
    return config


WRONG = [
    ("seeds.pretrain", [0, 1]),
    ("finetune.embeddings", "permuted"),
    ("corpus", {"folder": "books", "heldout": 2}),
    ("pretrain", {"updates": 8}),
    ("tokenizer", {"merges": 100}),
    ("arch", "lstm"),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=[path for path, _ in WRONG])
def test_what_has_no_place_beside_published_weights_is_one_line(path, value, tmp_path):
    config = from_weights(tmp_path)
    assert faults(config) == []
    (line,) = faults(changed(config, f"experiment.{path}", value))
    assert line.startswith(f"experiment.{path}")
    assert "does not fit the weights of experiment.pretrained; " in line


def test_a_missing_file_of_the_weights_or_their_vocabulary_is_reported(tmp_path):
    config = from_weights(tmp_path)
    (tmp_path / "gpt" / "model.safetensors").unlink()
    (tmp_path / "bpe" / "vocab_40000.bpe").unlink()
    assert faults(config) == [
        f"experiment.{key}: no file {tmp_path}/{name}; put it there (docs/published-weights.md)"
        for key, name in (
            ("pretrained.path", "gpt/model.safetensors"),
            ("tokenizer.folder", "bpe/vocab_40000.bpe"),
        )
    ]


STUDIES = ("ablation", "layer_transfer")
FIGURES = ("figure2", *STUDIES, "zero_shot", "differences")
GROUPS = ("data", "zero_shot", "ablation", "layer_transfer", "claims")
STAGES = {"import": 1, "examples": 2, "baselines": 2, "encode": 2, "zero_shot": 1, "all": 1}
STAGES |= {f"finetune_{name}_transformer": 2 for name in STUDIES} | {"page": 1}
STAGES |= {f"tables_{name}": 1 for name in GROUPS}
STAGES |= {"finetune_ablation_from_scratch": 2}


def test_tokenizer_and_pretraining_drop_out_of_the_graph_and_its_rules_are_clean(tmp_path):
    options = with_config(tmp_path, from_weights(tmp_path / "data"))
    assert planned(ROOT, *options, "all") == STAGES
    assert "Congratulations" in snakemake(ROOT, "--lint", *options)


def test_tasks_of_the_world_and_weights_from_elsewhere(tmp_path):
    raw_data(tmp_path / "weights", from_weights(tmp_path / "weights"))
    config = from_weights(None, path=str(tmp_path / "weights" / "gpt"))
    config["experiment"]["tokenizer"]["folder"] = "weights/bpe"  # from where the run is started
    of_world = {"world": 1, "cloze": 1, "tables_cloze": 1}
    assert planned(ROOT, *with_config(tmp_path, config), "all") == {**STAGES, **of_world}


@pytest.fixture(scope="module")
def published_model(tmp_path_factory) -> Path:
    """The world's files as data; beside them a tiny random model and its vocabulary."""
    data = tmp_path_factory.mktemp("data")
    make_world(WorldSettings(words=2000, books=2, scale=0.05, report=10), data)
    books = " ".join(path.read_text() for path in sorted((data / "books").iterdir()))
    counts = Counter(re.findall(r"\w+|[^\w\s]", books.lower()))
    published = data / "openai-gpt"
    vocabulary.save(published, *bpe.train(dict(counts), 200))
    for ours, theirs in zip(vocabulary.FILES, vocabulary.HUB_FILES, strict=True):
        (published / ours).rename(published / theirs)
    pieces = json.loads((published / vocabulary.HUB_FILES[0]).read_text())
    write_weights(published, arrays_of(len(pieces), MODEL.n_ctx, 12, 16), n_head=2)
    return data


def tiny(data: Path, results: Path) -> dict[str, Any]:
    """`laptop.yaml` with its lines, from made-up weights, on CoLA of the world."""
    config = shipped("laptop") | {"data": str(data), "results": str(results)}
    experiment = config["experiment"]
    experiment["pretrained"] |= {"updates": 37}
    shared = MODEL.model_dump(exclude={"shape"})
    experiment["model"] = {**shared, "transformer": MODEL.shape.model_dump()}
    experiment["finetune"] |= {"epochs": 1, "batch": 8, "eval_train": 10}
    experiment["seeds"] = {"finetune": [0, 1]}
    experiment["tasks"] = {"cola": {"min_rows": {"train": 1, "dev": 1}}}  # a handful of made rows
    experiment["zero_shot"] = {"tasks": {"cola": {}}}
    return config


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_from_published_weights_ends_in_cells_scores_and_tables(published_model, tmp_path):
    results = tmp_path / "results"
    command_line(ROOT, *with_config(tmp_path, tiny(published_model, results)), "all")

    assert {path.name for path in results.glob("pretrain/transformer/seed-0/*")} == {
        "update-37.safetensors",
        "update-37.json",
    }
    assert not (results / "corpus").exists() and not (results / "tokenizer").exists()
    facts = json.loads((results / "pretrain/transformer/seed-0/update-37.json").read_text())
    assert facts["update"] == 37

    logs, benchmarks = (
        {path.relative_to(results / name).with_suffix("") for path in (results / name).rglob("*.*")}
        for name in ("logs", "benchmarks")
    )
    assert logs == benchmarks and Path("examples/cola") in logs
    assert len(list(results.glob("cells/*/*.json"))) == 4 + 2
    depths = {"n_transfer-none": 0, "n_transfer-0": 1, "n_transfer-6": 73, "full": 145}
    for line, copied in depths.items():
        cell = json.loads((results / f"cells/{line}/cola.json").read_text())
        assert len(cell["copied"]) == copied
        assert [run["seed"] for run in cell["seeds"]] == [0, 1]
        assert cell["digests"]["tokenizer"] == facts["tokenizer"]
        start = "" if cell["n_transfer"] == "none" else facts["sha256"]
        assert {run["checkpoint"] for run in cell["seeds"]} == {start}
        assert {run["pretrain_seed"] for run in cell["seeds"]} == {0}

    scored = [path.relative_to(results) for path in results.glob("zero_shot/**/*.json")]
    assert scored == [Path("zero_shot/transformer/cola/seed-0/update-37.json")]
    score = json.loads((results / scored[0]).read_text())
    assert (score["update"], score["tokens"], score["n"]) == (37, None, 10)
    table = rows_of(results / "zero_shot.csv")
    assert [(row["task"], row["update"], row["tokens"]) for row in table] == [
        ("cola", "37", ""),
        ("mean", "37", ""),
    ]
    assert float(table[0]["mean"]) == pytest.approx(score["score"], abs=1e-3)
    text = (results / "zero_shot.md").read_text()
    assert "missing |" not in text and "untrained" not in text

    rows = {(row["variant"], row["task"]): row for row in rows_of(results / "ablation.csv")}
    full = rows["Transformer w/ aux LM (full)", "cola"]
    assert full["n_seeds"] == "2" and float(full["paper"]) == 45.4
    assert rows["Transformer w/o pre-training", "cola"]["n_seeds"] == "2"
    assert ("LSTM w/ aux LM", "cola") not in rows  # no published LSTM
    assert len(rows_of(results / "main.csv")) > 0 and not (results / "pretraining.csv").exists()
    assert {path.name for path in (results / "figures").iterdir()} == {
        f"{name}.{form}" for name in FIGURES for form in ("png", "svg", "pdf")
    }
    page = (results / "index.html").read_text(encoding="utf-8")
    assert "Not made yet" not in page and "Not part of this run: Held-out perplexity." in page
    assert "pretrained: {path:" in page and "<h3>Table 5 as a picture" in page

    other, folder = tmp_path / "other.safetensors", published_model / "openai-gpt"
    import_weights(folder, folder, other, MODEL)
    run_from = results / "pretrain/transformer/seed-0/update-37.safetensors"
    assert other.read_bytes() == run_from.read_bytes()
