"""The commands that the graph starts: each cell from the right weights, with its own settings."""

import re

from gpt1.settings import JobSettings
from tests.workflow.configs import changed, small
from tests.workflow.running import ROOT, snakemake, write
from workflow.configuration.read import parse
from workflow.plan import Plan


def command(tmp_path, config, program, *targets):
    """The one command of a program that the targets need."""
    options = ("--directory", str(tmp_path), "--configfile", write(tmp_path / "c.yaml", config))
    said = snakemake(ROOT, "--dry-run", "--printshellcmds", *options, "--", *targets)
    found = [line.strip() for line in said.splitlines() if f" -m {program} " in line]
    assert len(found) == 1, found
    return found[0]


def test_cells_start_from_the_last_checkpoint_of_every_seed_with_settings_of_their_own(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [4, 2], "finetune": [7, 1, 3]})
    target = "results/cells/arch-lstm+finetune.lm_coef-0/rte.json"
    said, own = command(tmp_path, config, "gpt1 finetune", target), parse(config)
    last = own.updates()[-1]
    weights = [f"results/pretrain/lstm/seed-{seed}/update-{last}.safetensors" for seed in (4, 2)]
    assert f"--checkpoints {' '.join(weights)} --settings" in said
    assert "--seeds 7 1 3 " in said
    assert "--encoded results/encoded/rte " in said
    assert "--baselines results/baselines/rte.json " in said
    given = JobSettings.parse(said.partition("--settings '")[2].partition("'")[0]).lines
    assert given == {name: Plan(own).config(name).finetune("rte") for name in given}
    assert given["arch-lstm+finetune.lm_coef-0"].lm_coef == 0 < given["arch-lstm"].lm_coef


def test_embeddings_are_permuted_in_the_checkpoint_of_the_books_and_the_same_seed(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [4, 2], "finetune": [7, 1]})
    folder, last = "results/pretrain/transformer", f"seed-2/update-{parse(config).updates()[-1]}"
    target = f"{folder}-permuted-embeddings/{last}.safetensors"
    said = command(tmp_path, config, "gpt1 permute", target)
    assert f"gpt1 permute {folder}/{last}.safetensors --corpus results/corpus/corpus.json " in said
    assert f"--out {target} " in said


def test_word_vectors_are_of_the_books_tokens_alone_and_as_wide_as_the_embeddings(tmp_path):
    line = {"n_transfer": 0, "finetune.embeddings": "vectors", "model.transformer.n_layer": 3}
    lines = {"mine": line, "of other books": line | {"pretrain.shuffled": "words"}}
    config = changed(small(), "experiment.studies.ablation.lines", lines)
    for variant in ("", "variants/pretrain.shuffled-words/"):
        target, corpus = (
            f"results/{variant}vectors/width-48.safetensors",
            f"results/{variant}corpus",
        )
        said = command(tmp_path, config, "gpt1 vectors", target)
        assert f"gpt1 vectors {corpus}/corpus.json --width 48 " in said
        assert f"--out {target} " in said
    name = "finetune.embeddings-vectors+model.transformer.n_layer-3+n_transfer-0"
    said = command(tmp_path, config, "gpt1 finetune", f"results/cells/{name}/rte.json")
    assert "--checkpoints --settings" in " ".join(said.split())
    assert "--vectors results/vectors/width-48.safetensors " in said


def test_a_language_model_is_pre_trained_from_its_own_seed(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [4, 2], "finetune": [7]})
    target = "results/pretrain/transformer/seed-2/update-0.safetensors"
    said, own = command(tmp_path, config, "gpt1 pretrain", target), parse(config)
    assert f"--settings '{own.pretrain('transformer', 2).to_json()}'" in said
    assert own.pretrain("transformer", 2).seed == 2
    assert re.search(r"--corpus \S*results/corpus/corpus\.json ", said)
