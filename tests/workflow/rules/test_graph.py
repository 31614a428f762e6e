"""The graph: what is planned, what a change reruns, and that a config stands alone.

A finished run is pretended by empty outputs and `snakemake --touch`, which records the params and
the code of the rules as a real run does; then a dry run tells what a change would rerun.
"""

import csv
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.configs import ROOT, changed, raw_data, shipped, small
from tests.workflow.running import command_line, copy_project, planned, snakemake, write
from workflow.configuration.read import parse

ANALYSIS = ("samples_", "table_", "figure_", "page", "all")
OF_CELLS = {"main", "ablation", "layer_transfer", "contamination", "claims", "positive_control"}
OF_CELLS |= {"degrees", "cost", "cells"}
OF_ZERO_SHOT = {"zero_shot", "claims", "positive_control", "cost"}
LSTM = {"finetune_ablation_lstm": 2, "finetune_layer_transfer_lstm": 2}  # of two tasks
FINETUNE = {
    **{"finetune_ablation_transformer": 2, "finetune_layer_transfer_transformer": 2},
    **LSTM,
}


def upstream(plan: dict[str, int]) -> dict[str, int]:
    """The jobs of a plan that come before the analysis."""
    return {rule: n for rule, n in plan.items() if not rule.startswith(ANALYSIS)}


def tables(plan: dict[str, int]) -> set[str]:
    """The tables of a plan."""
    return {rule.removeprefix("table_") for rule in plan if rule.startswith("table_")}


def options(run: Path, config: dict[str, Any] | None = None) -> tuple[str, ...]:
    """Snakemake's options for a config, the small one if none is given, in the folder of a run."""
    path = write(run / "config.yaml", small() if config is None else config)
    return ("--directory", str(run), "--configfile", path, "--")


def plan_of(run: Path, config: dict[str, Any] | None = None, target: str = "all") -> dict[str, int]:
    """The jobs that a config would start in the folder of a finished run."""
    return planned(ROOT, *options(run, config), target)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A folder with a finished run of a small config."""
    folder = tmp_path_factory.mktemp("finished")
    for row in summary(folder):
        output = folder / row["output_file"]
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.suffix:
            output.write_text("{}")
        else:
            output.mkdir()
    snakemake(ROOT, "--touch", "--forceall", *options(folder), "all")
    return folder


def summary(run: Path) -> list[dict[str, str]]:
    """Every output of a run, with its rule and its log."""
    said = snakemake(ROOT, "--summary", *options(run), "all").splitlines()
    start = next(i for i, line in enumerate(said) if line.startswith("output_file"))
    return list(csv.DictReader(said[start:], delimiter="\t"))


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A finished run of its own, file times kept."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture
def project(run: Path) -> Path:
    """A copy of the project, whose default config is the small one, with its finished run."""
    copy_project(run)
    write(run / "workflow" / "config" / "world.yaml", small())
    return run


@pytest.fixture(scope="module")
def everything(finished: Path) -> dict[str, int]:
    """The jobs of a whole run of the small config."""
    return planned(ROOT, "--forceall", *options(finished), "all")


def test_the_default_config_plans_the_whole_grid(tmp_path):
    plan = planned(ROOT, "--directory", str(tmp_path), "all")
    assert {rule: n for rule, n in plan.items() if rule.startswith("finetune")} == {
        **{"finetune_ablation_transformer": 12, "finetune_layer_transfer_transformer": 12},
        **{"finetune_ablation_lstm": 12, "finetune_ablation_transformer_2": 12},  # permuted
    }
    assert plan["pretrain"] == 6 and plan["zero_shot"] == 6
    assert plan["permuted_embeddings"] == 3  # of each model of the books
    assert plan["examples"] == plan["encode"] == 13 and plan["baselines"] == 12
    assert plan["all"] == 1 and plan["world"] == 1
    files = [str(ROOT / f"workflow/config/{name}.yaml") for name in ("world", "world_full")]
    full = planned(ROOT, "--directory", str(tmp_path), "--configfile", *files, "--", "all")
    assert full == plan | {
        **{"tokens": 1 + 2, "pretrain": 6 + 6, "cloze": 6 + 6},
        **{"finetune_ablation_transformer_3": 12, "finetune_ablation_transformer_4": 12},
    }


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("ablation", {"transformer": 12, "transformer_2": 12, "lstm": 12}),
        ("contamination", {"transformer": 12, "transformer_2": 12}),  # all that is sampled together
        ("zero_shot", {}),
    ],
)
def test_a_table_plans_the_cells_that_it_needs_and_no_others(table, cells, tmp_path):
    plan = planned(ROOT, "--directory", str(tmp_path), f"results/{table}.csv")
    found = {rule: n for rule, n in plan.items() if rule.startswith(("finetune", "samples"))}
    expected = {f"finetune_ablation_{job}": n for job, n in cells.items()}
    archs = {job.partition("_")[0] for job in cells}
    assert found == expected | {f"samples_{arch}_ablation": 1 for arch in archs}
    assert ("zero_shot" in plan) == (table == "zero_shot")
    assert ("contamination" in plan) == (table == "contamination")


def test_the_costs_wait_for_every_table_and_figure(run, everything):
    plan = planned(ROOT, "--forceall", *options(run), "results/cost.csv")
    assert {*everything} - {*plan} == {"all", "page"}


def test_a_single_cell_can_be_asked_for(tmp_path):
    cell = "results/cells/finetune.lm_coef-0+n_transfer-0/rte.json"
    plan = planned(ROOT, "--directory", str(tmp_path), cell)
    chain = ("world", "examples", "baselines", "documents", "tokenizer", "tokens", "encode")
    assert plan == {
        **dict.fromkeys((*chain, "baselines_word_classes"), 1),
        **{"pretrain": 3, "finetune_layer_transfer_transformer": 1},
    }


def test_a_line_of_ones_own_is_a_row_of_table_5_and_trains_alone(run):
    """Three lines of YAML; the finished cells of its job come from the cache."""
    lines = {"Three layers": {"n_transfer": 3}, "A wider one": {"model.transformer.n_embd": 96}}
    config = changed(small(), "experiment.studies.ablation", {"lines": lines})
    plan = plan_of(run, config)
    wider = {"pretrain": 2, "finetune_ablation_transformer_2": 2}
    assert upstream(plan) == wider | {"finetune_ablation_transformer": 2}
    assert {"ablation", "cells", "claims"} <= tables(plan) and plan["figure_ablation"] == 1


def test_what_compares_a_line_that_is_not_wanted_is_not_made(run, everything):
    lines = dict.fromkeys(["Transformer w/o pre-training", "Transformer w/o aux LM"])
    layers = {"values": [0, 5, 9, 12], "lines": {"Transformer w/o aux LM": None}}
    config = changed(small(), "experiment.studies.ablation", {"lines": lines})
    plan = plan_of(run, changed(config, "experiment.studies.layer_transfer", layers))
    compared = {"table_positive_control", "figure_aux_gain"}
    assert plan["table_ablation"] == 1 and compared <= {*everything} and not compared & {*plan}


@pytest.mark.parametrize("target", ["ablation.csv", "samples/transformer_ablation.parquet"])
def test_results_of_other_lines_are_refused_without_records(target, run):
    shutil.rmtree(run / ".snakemake")
    without = changed(small(), "experiment.studies.ablation", {"lines": {"LSTM w/ aux LM": None}})
    for lines, is_refused in ((small(), False), (without, target.endswith("csv"))):
        said = snakemake(ROOT, "--dry-run", *options(run, lines), f"results/{target}")
        assert ("was made with another config or other code" in said) == is_refused, said[-500:]


@pytest.mark.parametrize("name", ["smoke", "novels", "novels_night", "gpu", "paper", "laptop"])
def test_the_other_configs_plan(name, tmp_path):
    config = ROOT / "workflow" / "config" / f"{name}.yaml"
    options = ["--directory", str(tmp_path), "--configfile", str(config)]
    if name != "smoke":
        raw_data(tmp_path / "data", shipped(name))
        options += ["--config", "data=data"]
    plan = planned(ROOT, *options, "--", "all")
    expected = {"smoke": 12 * 4 + 1, "novels": 6 * 2, "gpu": 7 * 3}
    expected |= {"novels_night": 6 * 3, "paper": 12 * (4 + 2 + 4 + 4), "laptop": 5 * 2}
    assert sum(n for rule, n in plan.items() if rule.startswith("finetune")) == expected[name]
    assert ("world" in plan) == (name == "smoke")
    assert ("tokenizer" in plan) == (name not in ("paper", "laptop"))


def test_the_whole_paper_can_be_planned_without_any_data_all_standing_anywhere(tmp_path):
    options = ("--configfile", str(ROOT / "workflow" / "config" / "paper.yaml"))
    plan = planned(ROOT, "--directory", str(tmp_path), *options, "--", "all")
    assert sum(n for rule, n in plan.items() if rule.startswith("finetune")) == 12 * 14
    assert plan["pretrain"] == 2 and plan["examples"] == plan["encode"] == 13
    assert planned(ROOT, "--directory", str(tmp_path), *options, "all") == plan


def test_file_times_of_the_sources_rerun_nothing(project):
    for path in project.rglob("*"):
        if "results" not in path.parts and ".snakemake" not in path.parts and path.is_file():
            os.utime(path)
    assert planned(project, "all") == {}


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("world.seed", 8, set()),
        # The contamination is by words.
        (
            "tokenizer.merges",
            1300,
            {
                "world",
                "contamination",
                "examples",
                "baselines",
                "documents",
                "baselines_word_classes",
            },
        ),
    ],
)
def test_a_changed_world_or_vocabulary_reruns_everything_that_reads_it(
    key, value, kept, run, everything
):
    plan = plan_of(run, changed(small(), f"experiment.{key}", value))
    assert everything.keys() - plan.keys() == kept


CHANGES = {  # a key, its new value, the jobs before the analysis that it reruns, and the tables
    "pretrain.lr.lstm": (
        9.0e-3,
        {"pretrain": 2, "zero_shot": 2, "cloze": 2, **LSTM},
        OF_CELLS - {"contamination"}  # which is the transformer's
        | OF_ZERO_SHOT
        | {"cloze", "pretraining", "cost_pretraining"},
    ),
    "finetune.epochs": (4, FINETUNE, OF_CELLS),
    "finetune.lr.lstm": (9.0e-3, LSTM, OF_CELLS - {"contamination"}),
    "finetune.lm_coef": (0.4, FINETUNE, OF_CELLS),
    "tasks.rte.epochs": (4, dict.fromkeys(FINETUNE, 1), OF_CELLS),
    "tasks.rte.limit_train": (
        50,
        {
            **dict.fromkeys(FINETUNE, 1),
            **dict.fromkeys(("examples", "baselines", "encode", "contamination"), 1),
        },
        OF_CELLS | {"data"},
    ),
    "zero_shot.limit": (9, {"zero_shot": 4}, OF_ZERO_SHOT),
    "margins.mean": (
        *(3.0, {}),
        OF_CELLS | OF_ZERO_SHOT | {"data", "cloze", "pretraining", "cost_pretraining"},
    ),
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_changed_setting_reruns_what_depends_on_it(key, run):
    value, jobs, of_tables = CHANGES[key]
    plan = plan_of(run, changed(small(), f"experiment.{key}", value))
    assert (upstream(plan), tables(plan)) == (jobs, of_tables)


def test_other_word_classes_rerun_the_baselines(run):
    (run / "results/corpus/word_classes.json").write_text("others")
    assert upstream(plan_of(run)) == {"baselines": 2, **FINETUNE}


def test_runtime_settings_rerun_nothing(run):
    values = {"device": "cuda", "precision": "bfloat16", "pretrain_threads": 2, "compile": True}
    values |= {"finetune_threads": 2, "micro_batch": 8, "skip_pads": False}
    values |= {key: {"pretrain": 99, "finetune": 98} for key in ("mem_mb", "minutes")}
    config = small()
    before = parse(config).runtime.model_dump()
    assert all(before[key] != value for key, value in values.items())
    config["runtime"] = values
    assert plan_of(run, config) == {}


def test_cutting_the_jobs_otherwise_reruns_nothing(run):
    config = changed(small(), "runtime.shards", 3)
    assert plan_of(run, config) == {}
    cell = "results/cells/finetune.lm_coef-0+n_transfer-9/rte.json"
    (run / cell).unlink()
    assert plan_of(run, config, cell) == {"finetune_layer_transfer_transformer_3": 1}


def test_more_fine_tuning_seeds_rerun_the_cells_alone(run):
    plan = plan_of(run, changed(small(), "experiment.seeds.finetune", [0, 1, 2]))
    assert upstream(plan) == FINETUNE


def test_one_more_pre_training_seed_trains_one_more_model_of_each_architecture(run):
    plan = plan_of(run, changed(small(), "experiment.seeds.pretrain", [0, 1, 2]))
    assert upstream(plan) == {"pretrain": 2, "zero_shot": 2, "cloze": 2}
    # Two seeds need two of three models, so the cells and their samples stay.
    assert not any(rule.startswith("samples_") for rule in plan)


def test_keeping_a_cell_adds_one_job_and_repeats_no_other(run):
    config = changed(small(), "experiment.keep", ["full/rte"])
    job = {"finetune_kept_full_rte": 1}
    assert plan_of(run, config) == job | {"all": 1}
    (run / "results/cells/full/rte.json").unlink()
    plan = plan_of(run, config, "results/kept/full/rte")
    assert plan == job | {"finetune_ablation_transformer": 1}


def test_a_cell_of_a_study_is_kept_from_the_checkpoint_and_with_the_settings_of_its_name(run):
    study = {"heading": "Mine", "tasks": ["rte"], "axis": "experiment.finetune.checkpoint"}
    study |= {"values": [30], "lines": {"light": {"experiment.finetune.lm_coef": 0.25}}}
    config = changed(small(), "experiment.studies", {"mine": study})
    variant = "finetune.checkpoint-30+finetune.lm_coef-0.25"
    place, target = f"{variant}/rte", f"results/kept/{variant}/rte"
    config = changed(config, "experiment.keep", [place])
    said = snakemake(ROOT, "--dry-run", "-p", *options(run, config), target)
    keep = next(line for line in said.splitlines() if " --weights " in line)
    assert "update-30.safetensors" in keep and '"lm_coef": 0.25' in keep
    assert plan_of(run, config, target) == {
        f"finetune_kept_{re.sub('[^A-Za-z0-9]', '_', place)}": 1,
        "finetune_mine_transformer": 1,
    }


def test_the_page_is_made_again_for_each_study_that_was_made_since(run):
    mine = {"heading": "Mine", "question": "Nothing.", "tasks": ["rte"]}
    config = changed(small(), "experiment.studies.mine", mine)
    other = mine | {"tasks": ["race"]}  # which is not in it
    config = changed(config, "experiment.studies.other", other)
    assert plan_of(run, config) == {"page": 1, "all": 1}  # it names them
    snakemake(ROOT, "--touch", *options(run, config), "all")
    assert plan_of(run, config) == {}
    for name in ("mine", "other"):
        for form in ("csv", "md", "png", "svg", "pdf"):
            path = run / "results" / "studies" / f"{name}.{form}"
            path.parent.mkdir(exist_ok=True)
            path.touch()
    assert plan_of(run, config) == {"page": 1, "all": 1}
    snakemake(ROOT, "--touch", *options(run, config), "all", "results/studies/mine.csv")
    assert plan_of(run, config) == {}
    lost = run / "results" / "studies" / "mine.svg"
    lost.unlink()
    assert plan_of(run, config, str(lost.relative_to(run))) == {"study": 1}  # as the page says


def test_the_negative_controls_add_their_jobs_and_repeat_no_other(run):
    words = {"pretrain.shuffled": "words"}
    lines = {"words": words, "sentences": {"pretrain.shuffled": "sentences"}}
    lines |= {"permuted": {"finetune.permuted_embeddings": True}}
    plan = plan_of(run, changed(small(), "experiment.studies.ablation", {"lines": lines}))
    own = {"tokens": 2, "pretrain": 4, "cloze": 4, "permuted_embeddings": 2}
    own |= {f"finetune_ablation_transformer_{i}": 2 for i in (2, 3, 4)}
    samples = {rule for rule in plan if rule.startswith("samples_")}
    assert upstream(plan) == own and samples == {"samples_transformer_ablation"}
    of_one = {"lines": {"words": words | {"seeds.pretrain": [0]}}}
    plan = plan_of(run, changed(small(), "experiment.studies.ablation", of_one))
    one = {"tokens": 1, "pretrain": 1, "cloze": 1, "finetune_ablation_transformer_2": 2}
    assert upstream(plan) == one


EDITS = {  # a file, the jobs before the analysis that its edit reruns, and the tables
    "gpt1/training/finetuning.py": (FINETUNE, OF_CELLS),
    "gpt1/zero_shot.py": ({"zero_shot": 4}, OF_ZERO_SHOT),
    "gpt1/cloze.py": ({"cloze": 4}, {"cloze", "cost"}),
    "tasks/baselines.py": ({"baselines": 2, **FINETUNE}, OF_CELLS),
    "workflow/analysis/tables/ablation.py": ({}, {"ablation", "positive_control", "cost"}),
    "workflow/analysis/figures/ablation.py": ({}, {"cost"}),  # which waits for every figure
    "workflow/configuration/model.py": ({}, set()),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_program_reruns_what_uses_it(name, project):
    with open(project / name, "a", encoding="utf-8") as file:
        file.write("\n# edited\n")
    plan = planned(project, "all")
    assert (upstream(plan), tables(plan)) == EDITS[name]


@pytest.mark.parametrize("name", ["analysis/page/page.css", "report/table_main.rst"])
def test_an_edited_style_sheet_or_caption_makes_the_page_anew(name, project):
    with open(project / "workflow" / name, "a", encoding="utf-8") as file:
        file.write("\n/* edited */\n")
    assert planned(project, "all") == {"page": 1, "all": 1}


def reasons(project: Path, target: str) -> dict[str, set[str]]:
    """Why jobs of a dry run would be started, and the rules of those jobs."""
    _, _, told = snakemake(project, "--dry-run", target).partition("Reasons:")
    found = re.findall(r"^ {4}(\w[^\n]*):\n {8}([^\n]*)", told, re.MULTILINE)
    return {reason: set(rules.split(", ")) for reason, rules in found}


def test_an_edited_reader_leaves_the_language_models_and_the_cells_own_params(project):
    with open(project / "tasks" / "classification.py", "a", encoding="utf-8") as file:
        file.write("\n# edited\n")
    plan = planned(project, "all")
    assert plan["examples"] == plan["encode"] == 2
    assert not {"world", "documents", "tokenizer", "tokens", "pretrain"} & set(plan)
    # A dry run cannot know that the examples come out the same, so it plans the cells as well; the
    # cells' own digest stays, and with it the keys of the run cache: no run is trained again.
    why = reasons(project, "results/cells/n_transfer-9/rte.json")
    assert why["params have changed since last execution"] == {"examples"}
    assert "finetune_layer_transfer_transformer" in why["input files updated by another job"]


def test_every_fault_is_printed_on_its_own_line(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text("runtime: {shards: 0, bogus: 1}\nexperiment: {world: {}, submission: maybe}\n")
    said = snakemake(ROOT, "-d", str(tmp_path), "--configfile", str(path), "--", "all", code=1)
    lines = said.splitlines()[1:]
    keys = ("experiment.submission", "runtime.shards", "runtime.bogus")
    assert [line.split(": ")[:3] for line in lines] == [["error", "config", key] for key in keys]
    assert not (tmp_path / "results").exists()


def test_a_config_does_not_inherit_from_the_default_config(tmp_path):
    config = {"experiment": {"world": {}, "tasks": {"cola": {}}, "tokenizer": {"merges": 99}}}
    config["experiment"]["zero_shot"] = {"tasks": {"cola": {}}}
    path = write(tmp_path / "one_task.yaml", config)
    options = ("--directory", str(tmp_path), "--configfile", path)
    said = snakemake(ROOT, *options, "--dry-run", "--printshellcmds", "--", "all")
    assert re.search(r"^examples +1$", said, re.MULTILINE)
    assert '"updates": 1000000' in said  # the paper's, not the default config's


def test_a_run_without_its_data_ends_in_one_line(tmp_path):
    options = ("-d", str(tmp_path), "--configfile", str(ROOT / "workflow/config/novels.yaml"))
    said = command_line(ROOT, *options, "--", "all", code=1)
    assert said.splitlines()[-1] == (
        "error: config: data: missing; give the folder that holds books/, SNLI/, RTE/, MRPC/, "
        "STS-B/, SST-2/, CoLA/, DPRD/ in their original layouts, with --config data=FOLDER, or put "
        "a config with the synthetic world first, as in --configfile workflow/config/world.yaml "
        "mine.yaml"
    )
    assert not (tmp_path / "results").exists()
    plan = command_line(ROOT, *options, "--dry-run", "--", "all")
    assert plan.splitlines()[-1].startswith(
        "This is a plan only; a run would stop at once. error: config: data: missing; give"
    )


def test_a_plan_without_some_of_its_data_is_a_table_and_names_what_is_missing(tmp_path):
    raw_data(tmp_path, shipped("novels"))
    shutil.rmtree(tmp_path / "RTE")
    options = ("-d", str(tmp_path), "--configfile", str(ROOT / "workflow/config/novels.yaml"))
    plan = snakemake(ROOT, *options, "--config", f"data={tmp_path}", "-n", "--", "all")
    told = f"a run would stop at once. error: config: experiment.tasks.rte: {tmp_path}/RTE: no such"
    assert re.search(r"^examples +7$", plan, re.MULTILINE) and told in plan.splitlines()[-1]


def test_the_graph_can_be_run_from_another_folder(tmp_path):
    options = ("--snakefile", str(ROOT / "Snakefile"), "--dry-run", "results/pretraining.csv")
    assert re.search(r"^table_pretraining +1$", command_line(tmp_path, *options), re.MULTILINE)


def test_a_submission_is_planned_where_the_config_asks_for_it(tmp_path):
    config = changed(small(), "experiment.submission", True)
    options = ("--directory", str(tmp_path), "--configfile", write(tmp_path / "c.yaml", config))
    plan = planned(ROOT, *options, "--", "results/glue_submission.zip")
    assert plan["examples"] == plan["encode"] == plan["finetune_ablation_transformer"] == 2
    assert plan["glue_submission"] == 1 and "finetune_ablation_lstm" not in plan
    said = snakemake(ROOT, "-d", str(tmp_path), "results/glue_submission.zip", code=1)
    assert said.strip().splitlines()[-1] == (
        "error: results/glue_submission.zip: experiment.submission is false or the run has no "
        "task of GLUE; set it to true in the config"
    )


def test_every_job_has_a_log_of_its_rule(finished):
    found = summary(finished)
    assert all(re.match(f"results/logs/{job['rule']}[./]", job["log-file(s)"]) for job in found)


def test_the_last_line_of_a_run_with_a_page_names_it(run):
    touched = ("--touch", "--forceall", *options(run))
    assert snakemake(ROOT, *touched, "all").splitlines()[-1] == "open results/index.html"
    for others in ([*touched, "results/main.csv"], ["--dry-run", *touched[1:], "all"]):
        assert "index.html" not in snakemake(ROOT, *others).splitlines()[-1]


def test_a_new_table_is_one_file(tmp_path):
    copy_project(tmp_path)
    (tmp_path / "workflow" / "analysis" / "tables" / "novel.py").write_text(
        'INPUTS = ("ablation",)\n'
    )
    plan = planned(tmp_path, "--", "all")
    assert plan["table_novel"] == plan["samples_lstm_ablation"] == 1
