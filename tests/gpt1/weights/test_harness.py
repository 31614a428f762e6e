"""lm-evaluation-harness on exported language models: our log-probabilities, and logs we compare."""

import json
import random
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest

import gpt1
from gpt1 import convert
from gpt1.settings import TransformerShape
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.weights.checkpoint import load_checkpoint
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import write_checkpoint
from tests.gpt1.examples import write_tokenizer
from tests.support.programs import call

HARNESS = ["lm_eval==0.4.13", "accelerate==1.15.0"]
TASK = """\
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: items.jsonl}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{context}"
doc_to_choice: {choices}
doc_to_target: label
target_delimiter: "{between}"
metric_list: [{{metric: acc}}]
"""
# Whole sentences, as in BLiMP, and ends behind a context.
TASKS = {
    "whole": {"context": "", "choices": "sentences", "between": ""},
    "ends": {"context": "{{context}}", "choices": "ends", "between": " "},
}


def write_items(folder):
    """Twenty items of random words, and the two tasks."""
    drawn, items = random.Random(0), []
    for _ in range(20):
        context, *ends = (
            " ".join(drawn.choices(["cab", "fed", "ace", "bead"], k=3)) for _ in "123"
        )
        sentences = [f"{context} {end}" for end in ends]
        items.append({"context": context, "ends": ends, "sentences": sentences, "label": 0})
    lines = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "items.jsonl").write_text(lines)
    for name, of in TASKS.items():
        (folder / f"{name}.yaml").write_text(TASK.format(name=name, **of))


@pytest.mark.slow
def test_the_harness_has_our_log_probabilities_and_its_logs_are_compared(tmp_path, monkeypatch):
    harness = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", harness], check=True)
    pinned = [f"{name}=={version(name).partition('+')[0]}" for name in ("torch", "transformers")]
    command = [harness / "bin/pip", "install", "--quiet", *HARNESS, *pinned]
    installed = subprocess.run(command, capture_output=True, text=True)
    if installed.returncode:
        pytest.skip(f"lm-evaluation-harness cannot be installed: {installed.stderr[-200:]}")
    shape = TransformerShape(n_layer=2, n_embd=16, n_head=4, n_ff=64)  # n_ff as the format has it
    monkeypatch.setitem(toy.SHAPES, "transformer", shape)
    write_tokenizer(tmp_path / "tokenizer")
    write_items(tmp_path)
    tokenizer = Tokenizer.load(tmp_path / "tokenizer")
    for seed in (0, 1):
        out, path = tmp_path / f"lm-{seed}", tmp_path / f"model-{seed}.safetensors"
        write_checkpoint(tmp_path, path.stem, seed=seed)
        made = call(
            convert.main, "export", path, "--tokenizer", tmp_path / "tokenizer", "--out", out
        )
        assert made.returncode == 0, made.stderr
        options = [
            "--tasks",
            ",".join(TASKS),
            "--include_path",
            ".",
            "--output_path",
            f"logs-{seed}",
        ]
        options += ["--model_args", f"pretrained={out},dtype=float32,logits_cache=False"]
        options += ["--model", "hf", "--device", "cpu", "--batch_size", "4", "--log_samples"]
        ran = subprocess.run(
            [harness / "bin/lm_eval", *options], cwd=tmp_path, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        model = load_checkpoint(path, "transformer", toy.model("transformer"), tokenizer.digest)
        scorer = Scorer(model.language_model(Runtime()), tokenizer.newline_id, Runtime())
        for name in TASKS:
            (log,) = (tmp_path / f"logs-{seed}").rglob(f"samples_{name}_*.jsonl")
            for line in log.read_text().splitlines():
                sample = json.loads(line)
                item = sample["doc"]
                before = [np.array(tokenizer.encode(item["context"]))] if name == "ends" else []
                ids = [np.array(tokenizer.encode(text)) for text in item[TASKS[name]["choices"]]]
                (ours,) = scorer.log_probabilities([[scorer.sequence(before, of) for of in ids]])
                theirs = [float(answer[0]) for answer in sample["filtered_resps"]]
                assert theirs == pytest.approx([of.sum() for of in ours], rel=1e-6)
    found = gpt1.compare(tmp_path / "logs-0", tmp_path / "logs-1")
    assert {*found.frame["task"]} == {"mean", *TASKS}
    assert {*found.frame["rows"]} == {20}
