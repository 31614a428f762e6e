"""What a change of a config, a program or a file of a finished run makes anew."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpt1.text.vocabulary import PUBLISHED_FILES
from tests.workflow.configs import ROOT, changed, raw_data, small, write_empty
from tests.workflow.rules.conftest import FINETUNE, LSTM, finish, groups, plan_of, upstream
from tests.workflow.rules.test_pretrained import from_weights
from tests.workflow.running import planned, snakemake, with_config
from workflow.configuration.read import parse

OF_CELLS = {"main", "ablation", "layer_transfer", "contamination", "claims", "page"}
OF_ZERO_SHOT = {"zero_shot", "claims", "page"}
EVERY_GROUP = OF_CELLS | OF_ZERO_SHOT | {"data", "cloze", "pretraining"}
BEFORE_TOKENS = {"world", "examples", "baselines", "documents", "baselines_word_classes"}
BEFORE_TOKENS |= {"contamination"}  # which is by words


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [("world.seed", 8, set()), ("tokenizer.merges", 1300, BEFORE_TOKENS)],
)
def test_a_changed_world_or_vocabulary_reruns_everything_that_reads_it(
    key, value, kept, finished, everything
):
    plan = plan_of(finished, changed(small(), f"experiment.{key}", value))
    assert everything.keys() - plan.keys() == kept


CHANGES = {  # a key, its new value, the jobs before the analysis that it reruns, and the groups
    "pretrain.lr.lstm": (
        *(9.0e-3, {"pretrain": 2, "zero_shot": 2, "cloze": 2, **LSTM}),
        EVERY_GROUP - {"contamination", "data"},  # that is the transformer's
    ),
    "finetune.epochs": (4, FINETUNE, OF_CELLS),
    "finetune.lr.lstm": (
        *(9.0e-3, {**LSTM, "finetune_layer_transfer_from_scratch": 2}),
        OF_CELLS - {"contamination"},
    ),
    "finetune.lm_coef": (0.4, FINETUNE, OF_CELLS),
    "seeds.finetune": ([0, 1, 2], FINETUNE, EVERY_GROUP),
    "tasks.rte.epochs": (4, dict.fromkeys(FINETUNE, 1), OF_CELLS),
    "tasks.rte.limit_train": (
        *(50, dict.fromkeys((*FINETUNE, "examples", "baselines", "encode", "contamination"), 1)),
        OF_CELLS | {"data"},
    ),
    "zero_shot.limit": (9, {"zero_shot": 4}, OF_ZERO_SHOT),
    "margins.mean": (3.0, {}, EVERY_GROUP),
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_changed_setting_reruns_what_depends_on_it(key, finished):
    value, jobs, of_tables = CHANGES[key]
    plan = plan_of(finished, changed(small(), f"experiment.{key}", value))
    assert (upstream(plan), groups(plan)) == (jobs, of_tables)


def test_seeds_in_another_order_which_start_from_other_models_are_trained_again(finished):
    seeds = parse(small()).experiment.seeds.finetune[::-1]
    plan = plan_of(finished, changed(small(), "experiment.seeds.finetune", seeds))
    assert len(seeds) > 1 and upstream(plan) == FINETUNE


def test_other_word_classes_rerun_the_baselines(run):
    (run / "results/corpus/word_classes.json").write_text("others")
    assert upstream(plan_of(run)) == {"baselines": 2, **FINETUNE}


def test_runtime_settings_rerun_nothing(finished):
    values = {"device": "cuda", "precision": "bfloat16", "pretrain_threads": 2, "compile": True}
    values |= {"finetune_threads": 2, "micro_batch": 8, "skip_pads": False}
    values |= {key: {"pretrain": 99, "finetune": 98} for key in ("mem_mb", "minutes")}
    config = small()
    before = parse(config).runtime.model_dump()
    assert all(before[key] != value for key, value in values.items())
    config["runtime"] = values
    assert plan_of(finished, config) == {}


def test_cutting_the_jobs_otherwise_reruns_nothing(run):
    config = changed(small(), "runtime.shards", 3)
    assert plan_of(run, config) == {}
    cell = "results/cells/finetune.lm_coef-0+n_transfer-9/rte.json"
    (run / cell).unlink()
    assert plan_of(run, config, cell) == {"finetune_layer_transfer_transformer_3": 1}


def test_one_more_pre_training_seed_trains_one_more_model_of_each_architecture(finished):
    plan = plan_of(finished, changed(small(), "experiment.seeds.pretrain", [0, 1, 2]))
    assert upstream(plan) == {"pretrain": 2, "zero_shot": 2, "cloze": 2}
    # Two seeds need two of three models, so the cells stay.


def test_keeping_a_cell_trains_it_again_in_a_job_of_its_own_and_no_other_cell(finished):
    config = changed(small(), "experiment.keep", ["full/rte"])
    job = {"finetune_kept_full_rte": 1}
    assert plan_of(finished, config, "results/kept/full/rte") == job
    assert {name: n for name, n in plan_of(finished, config).items() if "finetune" in name} == job


def test_a_cell_of_a_study_is_kept_from_the_checkpoint_and_with_the_settings_of_its_name(finished):
    study = {"heading": "Mine", "tasks": ["rte"], "axis": "experiment.finetune.checkpoint"}
    study |= {"values": [30], "lines": {"light": {"experiment.finetune.lm_coef": 0.25}}}
    config = changed(small(), "experiment.studies", {"mine": study})
    variant = "finetune.checkpoint-30+finetune.lm_coef-0.25"
    place, target = f"{variant}/rte", f"results/kept/{variant}/rte"
    config = changed(config, "experiment.keep", [place])
    said = snakemake(ROOT, "--dry-run", "-p", *with_config(finished, config), target)
    keep = next(line for line in said.splitlines() if " --keep " in line)
    assert "update-30.safetensors" in keep and '"lm_coef": 0.25' in keep
    name = f"finetune_kept_{re.sub('[^A-Za-z0-9]', '_', place)}"
    assert plan_of(finished, config, target) == {name: 1}


def test_the_page_is_made_again_for_each_study_that_was_made_since(run):
    mine = {"heading": "Mine", "question": "Nothing.", "tasks": ["rte"]}
    config = changed(small(), "experiment.studies.mine", mine)
    other = mine | {"tasks": ["race"]}  # which is not in it
    config = changed(config, "experiment.studies.other", other)
    assert plan_of(run, config) == {"page": 1, "all": 1}  # it names them
    snakemake(ROOT, "--touch", *with_config(run, config), "all")
    assert plan_of(run, config) == {}
    for name in ("mine", "other"):
        for form in ("csv", "md", "png", "svg", "pdf"):
            path = run / "results" / "studies" / f"{name}.{form}"
            path.parent.mkdir(exist_ok=True)
            path.touch()
    apart = {"tables_cost": 1}  # from the page now, as the costs do not wait for studies
    assert plan_of(run, config) == {"page": 1, "all": 1} | apart
    snakemake(ROOT, "--touch", *with_config(run, config), "all", "results/studies/mine.csv")
    assert plan_of(run, config) == {}
    lost = run / "results" / "studies" / "mine.svg"
    lost.unlink()
    assert plan_of(run, config, str(lost.relative_to(run))) == {"study": 1}  # as the page says


def test_the_negative_controls_add_their_jobs_and_repeat_no_other(finished):
    words = {"pretrain.shuffled": "words"}
    lines = {"words": words, "sentences": {"pretrain.shuffled": "sentences"}}
    lines |= {"permuted": {"finetune.embeddings": "permuted"}}
    plan = plan_of(finished, changed(small(), "experiment.studies.ablation", {"lines": lines}))
    own = {"tokens": 2, "pretrain": 4, "cloze": 4, "permuted_embeddings": 2}
    own |= {f"finetune_ablation_transformer_{i}": 2 for i in (2, 3, 4)}
    assert upstream(plan) == own
    of_one = {"lines": {"words": words | {"seeds.pretrain": [0]}}}
    plan = plan_of(finished, changed(small(), "experiment.studies.ablation", of_one))
    one = {"tokens": 1, "pretrain": 1, "cloze": 1, "finetune_ablation_transformer_2": 2}
    assert upstream(plan) == one


EDITS = {  # a file, the jobs before the analysis that its edit reruns, and the groups
    "gpt1/training/finetuning.py": (FINETUNE, OF_CELLS),
    "gpt1/zero_shot.py": ({"zero_shot": 4}, OF_ZERO_SHOT),
    "gpt1/cloze.py": ({"cloze": 4}, {"cloze", "page"}),
    "tasks/baselines.py": ({"baselines": 2, **FINETUNE}, OF_CELLS),
    "workflow/analysis/tables/published.py": ({}, {"contamination", "main", "page"}),
    "workflow/analysis/figures/run.py": (
        {},
        {"pretraining", "zero_shot", "cloze", "ablation", "layer_transfer", "claims", "page"},
    ),
    "workflow/analysis/page/page.css": ({}, {"page"}),
    "workflow/report/table_main.rst": ({}, {"page"}),  # a caption
    "workflow/configuration/model.py": ({}, set()),
}


@contextlib.contextmanager
def edited(path: Path) -> Iterator[None]:
    """A file with another line at its end, for a while."""
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\n# edited\n", encoding="utf-8")
    yield
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_reruns_what_uses_it_and_file_times_of_sources_nothing(name, project):
    for path in project.rglob("*"):
        if "results" not in path.parts and ".snakemake" not in path.parts and path.is_file():
            os.utime(path)
    with edited(project / name):
        plan = planned(project, "all")
    assert (upstream(plan), groups(plan)) == EDITS[name]


def reasons(project: Path, *target: str) -> dict[str, set[str]]:
    """Why jobs of a dry run would be started, and the rules of those jobs."""
    _, _, told = snakemake(project, "--dry-run", *target).partition("Reasons:")
    found = re.findall(r"^ {4}(\w[^\n]*):\n {8}([^\n]*)", told, re.MULTILINE)
    return {reason: set(rules.split(", ")) for reason, rules in found}


def test_an_edited_reader_leaves_the_language_models_and_the_cells_own_params(project):
    with edited(project / "tasks" / "read.py"):
        plan = planned(project, "all")
        why = reasons(project, "results/cells/n_transfer-9/rte.json")
    assert plan["examples"] == plan["encode"] == 2
    assert not {"world", "documents", "tokenizer", "tokens", "pretrain"} & set(plan)
    # A dry run cannot know that the examples come out the same, so it plans the cells as well; the
    # cells' own digest stays, and with it the keys of the run cache: no run is trained again.
    assert why["params have changed since last execution"] == {"examples"}
    assert "finetune_layer_transfer_transformer" in why["input files updated by another job"]


MINE = {"kind": "classification", "files": "mine.csv", "columns": {"text": "a", "label": "b"}}
CLOZE = "mine.jsonl"
REPLACED = {  # files that are replaced, and the rules that read them
    "the books' model": [
        (("RTE/dev.tsv", CLOZE), {"examples", "cloze"}),
        (("books/train.txt",), {"documents"}),
        (("bpe/vocab_40000.bpe",), {"encode", "tokens"}),  # of a line
    ],
    "published weights": [
        (("mine.csv", "gpt/model.safetensors"), {"examples", "import"}),
        (("bpe/vocab_40000.bpe",), {"encode", "import"}),
    ],
}


@pytest.mark.parametrize("model", REPLACED)
def test_what_is_read_is_compared_by_content_whatever_its_time(model, tmp_path):
    data, link = tmp_path / "first", tmp_path / "data"
    data.mkdir()
    link.symlink_to(data)
    if model == "published weights":
        config = from_weights(link)
        mine = MINE | {"labels": ["x", "y"]}
        config["experiment"]["tasks"]["mine"] = mine
        (data / "mine.csv").write_text("a,b")
    else:
        config = changed(small(), "experiment.cloze", CLOZE) | {"data": str(link)}
        line = {"lines": {"mine": {"tokenizer.folder": "bpe", "tokenizer.merges": None}}}
        config = changed(config, "experiment.studies.ablation", line)
        del config["experiment"]["world"]
        raw_data(link, config)
        write_empty(link / "bpe", PUBLISHED_FILES)
    finish(tmp_path, config)
    assert plan_of(tmp_path, config) == {}
    before = shutil.copytree(data, tmp_path / "equal")  # copied later: not a newer file than now
    for files, rules in REPLACED[model]:
        other = shutil.copytree(data, tmp_path / files[0].replace("/", "-"))
        for path in map(other.joinpath, files):
            path.write_text("other")
            os.utime(path, (1, 1))
        link.unlink()
        link.symlink_to(other)
        why = reasons(ROOT, *with_config(tmp_path, config), "all")
        assert why["params have changed since last execution"] == rules, why
    for path in before.rglob("*"):
        os.utime(path, (1, 1))
    link.unlink()
    link.symlink_to(before)
    assert plan_of(tmp_path, config) == {}
