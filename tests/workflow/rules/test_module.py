"""The workflow as a module of another one, in another folder."""

import shutil

import pytest

from tests.workflow.configs import ROOT, changed, shipped
from tests.workflow.running import command_line

OWN = 'rule own:\n    input: "mine/examples/rte.json"\n    output: touch("own.txt")\n'


def module(name, statement):
    file = f'    snakefile: "{ROOT}/workflow/Snakefile"\n'
    return f"module {name}:\n{file}    {statement}\nuse rule * from {name} as {name}_*\n"


def test_another_workflow_runs_the_first_jobs_of_the_smoke_graph_with_its_config(tmp_path):
    targets = ("--", "own", "mine/corpus/words.tsv")
    for seed, code in ((7, 0), (7, 0), (9, 1)):
        config = changed(shipped("smoke") | {"results": "mine"}, "experiment.world.seed", seed)
        (tmp_path / "Snakefile").write_text(module("g", f"config: {config!r}") + OWN)
        said = command_line(tmp_path, *targets, code=code)
        assert (tmp_path / "own.txt").exists()
        shutil.rmtree(tmp_path / ".snakemake")
    assert "was made with another config (experiment.world.seed) or other code, and" in said
    assert (tmp_path / "mine" / ".work" / "run.lock").exists()


def test_the_config_files_of_another_workflow_are_its_own(tmp_path):
    """With what this one's would not have, such as an alias."""
    outer = tmp_path / "outer.yaml"
    outer.write_text("samples: &all [a, b]\nalso: *all\nresults: elsewhere\n")
    config = shipped("smoke") | {"results": "mine"}
    (tmp_path / "Snakefile").write_text(module("g", f"config: {config!r}") + OWN)
    said = command_line(tmp_path, "--dry-run", "--configfile", str(outer), "--", "own")
    assert "results: " not in said


TWO = module("g", "config: {'results': 'a'}") + module("h", "config: {'results': 'b'}")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (module("g", "config: {'experiments': {}}"), "config: experiments: unknown key; did you"),
        (module("g", "prefix: 'x'"), "module: x/results/ as results; give config with results"),
        (TWO, "module: a second one with another config; start another run for it"),
    ],
)
def test_what_a_module_cannot_be_given_is_one_line(text, fault, tmp_path):
    (tmp_path / "Snakefile").write_text(text)
    said = command_line(tmp_path, "--dry-run", code=1)
    assert said.startswith(f"error: {fault}") and said.count("\n") == 1
