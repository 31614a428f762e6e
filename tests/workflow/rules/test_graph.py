"""The graph: what is planned for each config and target, and that a config stands alone."""

import re
import shutil

import pytest

from tests.workflow.configs import ROOT, changed, raw_data, shipped, small
from tests.workflow.rules.conftest import groups, plan_of, summary, upstream
from tests.workflow.running import command_line, planned, snakemake, with_config
from workflow.analysis import figures, report
from workflow.configuration.studies import shipped as paper_studies


def test_the_default_config_plans_the_whole_grid(tmp_path):
    plan = planned(ROOT, "--directory", str(tmp_path), "all")
    assert {rule: n for rule, n in plan.items() if rule.startswith("finetune")} == {
        **{"finetune_ablation_transformer": 12, "finetune_layer_transfer_transformer": 2},
        **{"finetune_ablation_lstm": 12, "finetune_ablation_from_scratch": 12},
    }
    assert plan["pretrain"] == plan["zero_shot"] == 10
    assert "vectors" not in plan
    assert plan["examples"] == plan["encode"] == 13 and plan["baselines"] == 12
    assert plan["all"] == 1 and plan["world"] == 1
    files = [str(ROOT / f"workflow/config/{name}.yaml") for name in ("world", "world_full")]
    full = planned(ROOT, "--directory", str(tmp_path), "--configfile", *files, "all")  # no file
    assert full == plan | {
        **{"tokens": 1 + 1, "pretrain": 10 + 5, "cloze": 10 + 5},
        "vectors": 1,
        "permuted_embeddings": 5,  # of each model of the books
        **{"finetune_ablation_transformer_2": 12, "finetune_ablation_transformer_3": 12},
        "finetune_layer_transfer_transformer": 12,
    }


TRANSFORMER = {"finetune_ablation_transformer", "finetune_ablation_from_scratch", "pretrain"}
TABLE_5 = TRANSFORMER | {"finetune_ablation_lstm"}
EVERY_CELL = TABLE_5 | {
    f"finetune_layer_transfer_{kind}" for kind in ("transformer", "lstm", "from_scratch")
}
GROUPS = {  # what one job makes, and what is trained, scored and searched for it
    "data.csv": set(),
    "pretraining.csv cost_pretraining.csv figures/pretraining.svg": {"pretrain"},
    "zero_shot.csv figures/zero_shot.svg": {"pretrain", "zero_shot"},
    "cloze.csv figures/cloze.svg": {"pretrain", "cloze"},
    "ablation.csv degrees.csv figures/ablation.svg figures/differences.svg": TABLE_5,
    "contamination.csv": TRANSFORMER - {"finetune_ablation_from_scratch"} | {"contamination"},
    "main.csv": TABLE_5 | {"contamination"},
    "layer_transfer.csv cells.csv figures/layer_transfer.svg": EVERY_CELL,
    "claims.csv positive_control.csv figures/figure2.svg": EVERY_CELL | {"zero_shot"},
    "cost.csv index.html": EVERY_CELL | {"zero_shot", "cloze", "contamination"},
}


@pytest.mark.parametrize("files", GROUPS)
def test_a_target_trains_and_scores_what_it_needs_and_no_more(files, outputs, tmp_path):
    """The files of a group are made by one job, so that any of them has the same plan."""
    first, *_ = wanted = [f"results/{file}" for file in files.split()]
    rules = {row["output_file"]: row["rule"] for row in outputs}
    made = [file for file, rule in rules.items() if rule == rules[first]]
    assert sorted(f for f in made if f.endswith((".csv", ".svg", ".html"))) == sorted(wanted)
    plan = plan_of(tmp_path, target=first)
    models = ("finetune", "pretrain", "zero_shot", "cloze", "contamination")
    assert {rule for rule in plan if rule.startswith(models)} == GROUPS[files]


def test_every_table_and_figure_of_a_run_is_in_one_group():
    names = [f"{name}.csv" for name in report.TABLES if name != "confusion"]
    names += [f"figures/{name}.svg" for name in figures.TABLES]
    assert sorted([*names, "index.html"]) == sorted(" ".join(GROUPS).split())


def test_the_costs_wait_for_every_table_and_figure(everything, tmp_path):
    assert {*everything} - {*plan_of(tmp_path, target="results/cost.csv")} == {"all"}


def test_a_single_cell_can_be_asked_for(tmp_path):
    cell = "results/cells/finetune.lm_coef-0+n_transfer-0/rte.json"
    plan = planned(ROOT, "--directory", str(tmp_path), cell)
    chain = ("world", "examples", "baselines", "documents", "tokenizer", "tokens", "encode")
    assert plan == {
        **dict.fromkeys((*chain, "baselines_word_classes"), 1),
        **{"pretrain": 5, "finetune_lm_coef_transformer": 1},
    }


def test_a_line_of_ones_own_is_a_row_of_table_5_and_trains_alone(run):
    """Three lines of YAML; the finished cells of its job come from the cache."""
    lines = {"Three layers": {"n_transfer": 3}, "A wider one": {"model.transformer.n_embd": 96}}
    config = changed(small(), "experiment.studies.ablation", {"lines": lines})
    plan = plan_of(run, config)
    wider = {"pretrain": 2, "finetune_ablation_transformer_2": 2}
    assert upstream(plan) == wider | {"finetune_ablation_transformer": 2}
    assert {"ablation", "layer_transfer", "claims"} <= groups(plan)


def test_what_compares_lines_that_are_not_wanted_is_not_made(outputs, tmp_path):
    def made(rows):
        return {row["output_file"].partition("/")[2] for row in rows}

    lines = dict.fromkeys(["Transformer w/o pre-training", "Transformer w/o aux LM"])
    layers = {"values": [0, 5, 9, 12], "lines": {"Transformer w/o aux LM": None}}
    config = changed(small(), "experiment.studies.ablation", {"lines": lines})
    less = made(summary(tmp_path, changed(config, "experiment.studies.layer_transfer", layers)))
    assert "ablation.csv" in less and "positive_control.csv" in made(outputs) - less
    others = [*paper_studies(has_lstm=True)["ablation"]["lines"]][1:]
    config = changed(small(), "experiment.studies.ablation", {"lines": dict.fromkeys(others)})
    alone = made(summary(tmp_path, config))  # the full model
    assert "figures/ablation.png" in alone and "figures/differences.png" not in alone


FINETUNED = {  # jobs for each config
    **{"smoke": 12 * 5 + 1, "novels": 6 * 3, "novels_night": 6 * 4},
    **{"gpu": 7 * 4, "paper": 12 * 16, "laptop": 5 * 3},
}


@pytest.mark.parametrize("name", FINETUNED)
def test_the_other_configs_plan(name, tmp_path):
    """With files, and that of the paper without any data at all."""
    if name not in ("smoke", "paper"):
        raw_data(tmp_path / "data", shipped(name))
    data = () if name in ("smoke", "paper") else ("--config", "data=data")
    plan = planned(ROOT, *data, *with_config(tmp_path, name), "all")
    assert sum(n for rule, n in plan.items() if rule.startswith("finetune")) == FINETUNED[name]
    assert ("world" in plan) == (name == "smoke")
    assert ("tokenizer" in plan) == (name not in ("paper", "laptop"))
    if name == "paper":
        assert plan["pretrain"] == 2 and plan["examples"] == plan["encode"] == 13


def test_every_fault_is_printed_on_its_own_line(tmp_path):
    wrong = {"experiment": {"world": {}, "submission": "maybe"}}
    wrong |= {"runtime": {"shards": 0, "bogus": 1}}
    lines = snakemake(ROOT, *with_config(tmp_path, wrong), "all", code=1).splitlines()[1:]
    keys = ("experiment.submission", "runtime.shards", "runtime.bogus")
    assert [line.split(": ")[:3] for line in lines] == [["error", "config", key] for key in keys]
    assert not (tmp_path / "results").exists()


def test_a_config_does_not_inherit_from_the_default_config(tmp_path):
    config = {"experiment": {"world": {}, "tasks": {"cola": {}}, "tokenizer": {"merges": 99}}}
    config["experiment"]["zero_shot"] = {"tasks": {"cola": {}}}
    said = snakemake(ROOT, "-n", "--printshellcmds", *with_config(tmp_path, config), "all")
    assert re.search(r"^examples +1$", said, re.MULTILINE)
    assert '"updates": 1000000' in said  # the paper's, not the default config's


def test_a_run_without_its_data_ends_in_one_line(tmp_path):
    options = with_config(tmp_path, "novels")
    said = snakemake(ROOT, *options, "all", code=1)
    assert said.splitlines()[-1] == (
        "error: config: data: missing; give the folder that holds books/, SNLI/, RTE/, MRPC/, "
        "STS-B/, SST-2/, CoLA/, DPRD/ in their original layouts, with --config data=FOLDER, or put "
        "a config with the synthetic world first, as in --configfile workflow/config/world.yaml "
        "mine.yaml"
    )
    assert not (tmp_path / "results").exists()
    plan = snakemake(ROOT, "--dry-run", *options, "all")
    assert plan.splitlines()[-1].startswith(
        "This is a plan only; a run would stop at once. error: config: data: missing; give"
    )


def test_a_plan_without_some_of_its_data_is_a_table_and_names_what_is_missing(tmp_path):
    raw_data(tmp_path, shipped("novels"))
    shutil.rmtree(tmp_path / "RTE")
    options = ("-n", "--config", f"data={tmp_path}", *with_config(tmp_path, "novels"))
    plan = snakemake(ROOT, *options, "all")
    told = f"a run would stop at once. error: config: experiment.tasks.rte: {tmp_path}/RTE: no such"
    assert re.search(r"^examples +7$", plan, re.MULTILINE) and told in plan.splitlines()[-1]


def test_the_graph_can_be_run_from_another_folder(tmp_path):
    options = ("--snakefile", str(ROOT / "Snakefile"), "--dry-run", "results/pretraining.csv")
    assert re.search(r"^tables_pretraining +1$", command_line(tmp_path, *options), re.MULTILINE)


def test_a_submission_is_planned_where_the_config_asks_for_it(tmp_path):
    config = changed(small(), "experiment.submission", True)
    plan = plan_of(tmp_path, config, "results/glue_submission.zip")
    assert plan["examples"] == plan["encode"] == plan["finetune_ablation_transformer"] == 2
    assert plan["glue_submission"] == 1 and "finetune_ablation_lstm" not in plan
    said = snakemake(ROOT, "-d", str(tmp_path), "results/glue_submission.zip", code=1)
    assert said.strip().splitlines()[-1] == (
        "error: results/glue_submission.zip: experiment.submission is false or the run has no "
        "task of GLUE; set it to true in the config"
    )


def test_every_job_has_a_log_of_its_rule(outputs):
    assert all(re.match(f"results/logs/{job['rule']}[./]", job["log-file(s)"]) for job in outputs)


def test_the_last_line_of_a_run_with_a_page_names_it(run):
    touched = ("--touch", "--forceall", *with_config(run, small()))
    assert snakemake(ROOT, *touched, "all").splitlines()[-1] == "open results/index.html"
    for others in ([*touched, "results/main.csv"], ["--dry-run", *touched[1:], "all"]):
        assert "index.html" not in snakemake(ROOT, *others).splitlines()[-1]
