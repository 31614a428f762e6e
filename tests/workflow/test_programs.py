"""`python -m PACKAGE PROGRAM` finds the program; a signal during its imports is one line."""

import importlib
import os
import re
import signal
import subprocess
import sys

import pytest

from gpt1.__main__ import PROGRAMS as OF_GPT1
from tasks.__main__ import PROGRAMS as OF_TASKS
from tasks.common.programs import INTERRUPTED, PLANNED, door
from tests.workflow.running import ROOT
from workflow.analysis.__main__ import PROGRAMS as OF_ANALYSIS

DOORS = {"gpt1": OF_GPT1, "tasks": OF_TASKS, "workflow.analysis": OF_ANALYSIS}
LIBRARIES = ("torch", "pandas", "tokenizers", "huggingface_hub", "httpx2", "pydantic")
STAND_IN = "import time\nprint('importing', flush=True)\ntime.sleep(60)\n"


@pytest.mark.parametrize(
    "words", ["gpt1 predict", "tasks fetch", "workflow.analysis report", "workflow.configuration"]
)
def test_a_signal_while_a_program_imports_libraries_is_one_line(words, tmp_path):
    for name in LIBRARIES:
        (tmp_path / f"{name}.py").write_text(STAND_IN)
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", *words.split()]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, **streams) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert said == "error: stopped by SIGTERM; start again to resume\n"
    assert process.returncode == INTERRUPTED


@pytest.mark.parametrize("package", DOORS)
def test_help_has_a_line_for_every_program(package, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [package, "--help"])
    assert door(package, DOORS[package]) == 0
    _usage, _blank, *lines = capsys.readouterr().out.splitlines()
    for line, (name, module) in zip(lines, DOORS[package].items(), strict=True):
        summary = importlib.import_module(module).__doc__.splitlines()[0]
        assert line.split(maxsplit=1) == [name, summary]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("pretran", "did you mean pretrain?"), ("x", f"there are {', '.join(OF_GPT1)}")],
)
def test_an_unknown_program_is_one_line(name, remedy, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["gpt1", name])
    assert door("gpt1", OF_GPT1) == 1
    said = capsys.readouterr().err
    assert said == f"error: python -m gpt1 {name}: no such program; {remedy}\n"


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("-m gpt1.predict", "gpt1 predict"),
        ("-m gpt1.pretrain --help", "gpt1 pretrain"),
        ("-mgpt1.text.tokenizer x", "gpt1 tokenizer"),
        ("-um tasks.prepare -m x", "tasks prepare"),
        ("-m workflow.analysis.report", "workflow.analysis report"),
    ],
)
def test_a_module_of_a_program_names_the_command_that_runs_it(words, right):
    done = subprocess.run(
        [sys.executable, *words.split()], cwd=ROOT, capture_output=True, text=True
    )
    module = re.search(r"m ?([\w.]+)", words)[1]
    assert done.stderr == f"error: python -m {module}: give python -m {right}\n"
    assert done.returncode == 2 and not done.stdout


def test_a_program_is_imported_and_run_with_its_arguments_and_leaves_signals_alone(
    monkeypatch, capsys
):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(sys, "argv", ["gpt1", "convert", "--help"])
    with pytest.raises(SystemExit):
        door("gpt1", OF_GPT1)
    assert capsys.readouterr().out.startswith("usage: python -m gpt1 convert ")
    assert signal.getsignal(signal.SIGTERM) == before


def test_arguments_may_be_the_lines_of_a_file(monkeypatch, capsys, tmp_path):
    """Of any length, where Linux takes 128 KiB for a word; as rules write them, see common.smk."""
    words, path = ["two words", "x" * 2**18, "@x", ""], tmp_path / "0.args"
    path.write_text("\n".join(words))
    monkeypatch.setattr("tasks.common.programs.start", lambda module: print(module, sys.argv))
    monkeypatch.setattr(sys, "argv", ["gpt1", "convert", "--out", f"@{path}", "last"])
    door("gpt1", OF_GPT1)
    given = ["python -m gpt1 convert", "--out", *words, "last"]
    assert capsys.readouterr().out == f"{OF_GPT1['convert']} {given}\n"
    monkeypatch.setattr(sys, "argv", ["gpt1", "convert", "@gone.args"])
    assert door("gpt1", OF_GPT1) == 1 and "gone.args: No such file" in capsys.readouterr().err


def test_a_job_says_what_memory_its_program_took_at_most():
    words = [
        sys.executable,
        "-c",
        "from tasks.common.programs import run; run(lambda: bytes(3 * 10**8))",
    ]
    alone, in_run = (
        subprocess.run(words, cwd=ROOT, env=os.environ | planned, capture_output=True, text=True)
        for planned in ({PLANNED: ""}, {PLANNED: "0"})
    )
    assert (
        not alone.stdout and int(re.fullmatch(r"peak memory: (\d+) MB\n", in_run.stdout)[1]) > 286
    )


def test_every_command_of_a_rule_names_a_program():
    rules = (ROOT / "workflow" / "rules").glob("*.smk")
    text = "".join(path.read_text(encoding="utf-8") for path in rules)
    commands = re.findall(r" -m ([\w.]+) (\w+)", text)
    assert len(commands) > 15 and all(name in DOORS[package] for package, name in commands)
