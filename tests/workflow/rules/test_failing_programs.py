"""A program that fails fails its job, whenever and however it does, and its own line is shown."""

import json
import re

import pytest

from tests.workflow.configs import shipped
from tests.workflow.running import copy_project, snakemake, write

LINE = "error: the stand-in failed; look elsewhere"
# Takes the place of a program: makes half of its output, then ends as the environment says.
PROGRAM = f"""\
import os, signal, sys
from pathlib import Path


out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True, exist_ok=True)
print("half of it is done", flush=True)
(out / "manifest.json").write_text("half")
if os.environ["FAIL"] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if os.environ["FAIL"] == "says so":
    sys.exit("{LINE}")

main = lambda: None
"""
TARGET = "results/smoke/world/manifest.json"


@pytest.mark.parametrize("fail", ["says so", "killed"])
def test_a_failing_program_fails_its_job_and_its_words_are_shown(fail, tmp_path, monkeypatch):
    copy_project(tmp_path)
    (tmp_path / "tasks" / "world" / "make.py").write_text(PROGRAM)
    monkeypatch.setenv("FAIL", fail)
    options = ("--configfile", write(tmp_path / "config.yaml", shipped("smoke")), "--", TARGET)
    said = snakemake(tmp_path, *options, code=1)
    assert (LINE in said, "exit status 137" in said) == (fail == "says so", fail == "killed")
    assert "half of it is done" in said and not (tmp_path / TARGET).exists()
    monkeypatch.setenv("FAIL", "never")  # the next run is not in the way of what is left
    assert "1 of 1 steps (100%) done" in snakemake(tmp_path, *options)


TOLD = """

import json
commands = {rule.name: rule.shellcmd for rule in workflow.rules if rule.shellcmd}
Path("told.json").write_text(json.dumps(commands))
"""


@pytest.mark.parametrize("name", ["smoke", "laptop"])
def test_every_rule_is_one_program_whose_words_go_to_the_log(name, tmp_path):
    """Of two commands Snakemake would show the last alone to fail; a pipe would hide its end."""
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write(TOLD)
    config = write(tmp_path / "config.yaml", shipped(name))
    weights = tmp_path / "finetune-transformer-lm" / "model"  # as laptop.yaml has them
    weights.mkdir(parents=True)
    parameters = ["params_shapes.json", *(f"params_{n}.npy" for n in range(10))]
    for file in (*parameters, "encoder_bpe_40000.json", "vocab_40000.bpe"):
        (weights / file).touch()
    snakemake(tmp_path, "--list-rules", "--configfile", config)
    commands = json.loads((tmp_path / "told.json").read_text())
    assert len(commands) > 15
    for command in commands.values():
        start = r"(?:exec |\w+=\S+ )?(?:python|\$PRETRAIN_WITH) -m "
        assert re.fullmatch(rf"{start}[^|;&<>\n]+ &> {{log}}", command), command


@pytest.mark.parametrize(("device", "first"), [("cuda", "python -m gpt1 devices 2 "), ("cpu", "")])
def test_processes_that_train_together_are_given_their_gpus_at_once(device, first, tmp_path):
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write('\nopen("told", "w").write(os.environ["PRETRAIN_WITH"])\n')
    config = shipped("smoke") | {"runtime": {"device": device, "pretrain_processes": 2}}
    snakemake(tmp_path, "--list-rules", "--configfile", write(tmp_path / "config.yaml", config))
    assert (tmp_path / "told").read_text().startswith(f"{first}torchrun --standalone")
