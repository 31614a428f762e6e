"""Every rule under Snakemake itself, with a program that fails at any moment or is killed.

Its job fails, nothing of it stays, and Snakemake shows its log, whose line names program, input and
remedy.
"""

import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults.runs import tiny
from tests.workflow.configs import raw_data, shipped
from tests.workflow.running import ROOT, copy_project, snakemake, write
from workflow.configuration.read import parse

pytestmark = pytest.mark.faults
STAND_IN = Path(__file__).with_name("stand_in.py")
MOMENTS = ["before it writes", "while it writes", "after its outputs", "killed"]
FORCED = ("--force", "--keep-going", "--rerun-triggers", "mtime")
KEPT = "fetch"  # whose old manifest and files are still right
STUDIES = {
    "mine": {  # a cell that is fine-tuned, one that is asked in words, one of a model of its own
        "heading": "Mine",
        "tasks": ["rte"],
        "lines": {
            "smaller loss": {"experiment.finetune.lm_coef": 0.25},
            "in words": {"experiment.finetune.method.prompted": True, "aux": "off"},
            "two layers": {"experiment.model.transformer.n_layer": 2},
            "fewer rows": {"experiment.tasks.rte.limit_train": 12},
            "other vocabulary": {"experiment.tokenizer.merges": 300},
        },
    },
    "knockout": {
        "heading": "Knock-out",
        "tasks": ["rte"],
        "references": {"all books": {}, "w/o pre-training": {"n_transfer": "none"}},
        "lines": {"no reasons": {"experiment.world.exclude": ["reasons"]}},
        "kind": "prediction",
        "predicted": {"no reasons": []},
    },
    "planted": {
        "heading": "Planted",
        "tasks": ["race"],
        "references": {"own books": {}},
        "lines": {"planted": {"experiment.world.planted": [1, 4]}},
        "kind": "planted",
    },
    "together": {
        "heading": "Together",
        "tasks": ["rte", "race"],
        "lines": {"one model": {"experiment.finetune.multi_task": ["rte", "race"]}},
    },
}


@dataclass(frozen=True)
class Job:
    """A job of a rule, as the stand-in for its program was called."""

    rule: str
    program: str
    log: str
    inputs: list[str]
    outputs: list[str]

    @property
    def line(self) -> str:
        """What its program says when it fails."""
        first = self.inputs[0] if self.inputs else "no input"
        return f"error: {self.program}: {first}: damaged; make it again"


@dataclass(frozen=True)
class Made:
    """A finished run of stand-ins: where, Snakemake's options, and a job of each rule."""

    project: Path
    folder: Path
    options: tuple[str, ...]
    levels: list[list[Job]]  # no job needs another one of its level


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> list[Made]:
    """The tiny run with everything that can be asked for, and the import of published weights."""
    project = tmp_path_factory.mktemp("failing") / "project"
    project.mkdir()
    copy_project(project)
    for path in (project / "workflow" / "rules").glob("*.smk"):
        given = "--rule {rule} --log {log} --inputs {input} --outputs {output} &> {log}"
        text = path.read_text().replace("&> {log}", given)
        text = text.replace("$PRETRAIN_WITH -m", "python -m")
        path.write_text(text.replace("python -m", "python $STAND_IN -m"))
    published, data = shipped("published"), project.parent / "data"
    raw_data(data, published)
    published |= {"data": str(data)}
    weights = parse(published).grid().models()[0]
    update = parse(published).updates()[-1]
    studies = [f"made/studies/{name}.csv" for name in STUDIES]
    runs = [
        (everything(), ["all", "made/glue_submission.zip", *studies]),
        (published, [str(weights.checkpoint("results/published", update))]),
    ]
    return [
        run(project, tmp_path_factory.mktemp("made"), config, targets) for config, targets in runs
    ]


def everything() -> dict[str, Any]:
    """The tiny config with all kinds of jobs."""
    config = tiny()
    experiment = config["experiment"]
    experiment["tasks"]["rte"] |= {"source": "hub"}
    experiment["grid"] |= {"shuffled": True}
    experiment["submission"] = True
    experiment["studies"] = STUDIES
    config["runtime"] |= {"shards": 2}
    return config


def run(project: Path, folder: Path, config: dict[str, Any], targets: list[str]) -> Made:
    """Make the targets with stand-ins that do not fail."""
    file = write(project.parent / f"{folder.name}.yaml", config)
    options = ("--snakefile", str(project / "Snakefile"), "--configfile", file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STAND_IN", str(STAND_IN))
        patch.setenv("FAILING", "")
        snakemake(project, "--directory", str(folder), *options, "--", *targets)
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    return Made(project, folder, options, levels(Job(**call) for call in calls))


def levels(jobs: Iterable[Job]) -> list[list[Job]]:
    """One job of each rule; those that need one of a level are in a later one."""
    level_of: dict[str, int] = {}
    found: dict[str, tuple[int, Job]] = {}
    for job in jobs:  # in the order in which they ran
        level = 1 + max((level_of.get(path, -1) for path in job.inputs), default=-1)
        level_of |= dict.fromkeys(job.outputs, level)
        found.setdefault(job.rule, (level, job))
    highest = max(level for level, _ in found.values())
    return [[job for at, job in found.values() if at == k] for k in range(highest + 1)]


def test_every_rule_is_among_them(made):
    text = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    written = set(re.findall(r"^ *rule (\w+):", text, re.MULTILINE))
    written |= set(re.findall(r"^ *use rule \w+ as (\w+)", text, re.MULTILINE))
    ran = {job.rule for each in made for level in each.levels for job in level}
    assert len(written) > 15 and written - ran == set()
    kinds = ("samples", "table", "figure", "finetune_kept", "finetune_transformer_shuffled")
    kinds += ("finetune_variant_1", "pretrain")
    assert all(any(rule.startswith(kind) for rule in ran) for kind in kinds)


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_program_of_every_rule_fails_its_job_and_its_log_is_shown(
    moment, made, tmp_path, monkeypatch
):
    monkeypatch.setenv("STAND_IN", str(STAND_IN))
    monkeypatch.setenv("MOMENT", moment)
    for number, each in enumerate(made):
        folder = tmp_path / str(number)
        shutil.copytree(each.folder, folder, symlinks=True)
        for level in reversed(each.levels):  # so that what a job needs is still there
            monkeypatch.setenv("FAILING", " ".join(job.rule for job in level))
            targets = [job.outputs[0] for job in level]
            options = ("--directory", str(folder), *each.options, *FORCED)
            said = snakemake(each.project, *options, "--", *targets, code=1)
            for job in level:
                assert f"Logfile {job.log}:" in said
                assert (job.line in said) == (moment != "killed"), said
            paths = [path for job in level if job.rule != KEPT for path in job.outputs]
            assert not [path for path in paths if (folder / path).exists()]
