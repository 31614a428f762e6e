"""The command lines of the programs: what each is for, and what it cannot do without."""

import importlib
import re

import pytest

from tests.workflow.configs import ROOT

PROGRAMS = {  # and the arguments that must be given
    "gpt1.cells": "cells, --encoded, --baselines, --checkpoints, --settings, --seeds, --cache",
    "gpt1.contamination": "tasks, --corpus, --documents, --examples, --encoded, --out",
    "gpt1.convert": "command",
    "gpt1.corpus": "command",
    "gpt1.encode": "task, --examples, --tokenizer, --out, --facts",
    "gpt1.generate": "checkpoint, --prompt",
    "gpt1.keep": "cell, --encoded, --baselines, --checkpoints, --tokenizer, --settings, --seeds, "
    "--code, --cache, --out",
    "gpt1.longest_match": "tasks, --documents, --examples, --out",
    "gpt1.multi_task": "cells, --encoded, --baselines, --checkpoints, --settings, --seeds, --cache",
    "gpt1.predict": "cell",
    "gpt1.pretrain": "arch, --corpus, --settings, --work, --out",
    "gpt1.probes": "arch, --probes, --tokenizer, --checkpoints, --settings, --out",
    "gpt1.prompted": "cell, --encoded, --baselines, --tokenizer, --checkpoints, --settings, "
    "--seeds",
    "gpt1.text.tokenizer": "{train}",
    "gpt1.zero_shot": "arch, --encoded, --tokenizer, --checkpoints, --settings, --results",
    "tasks.baselines": "task, --examples, --out",
    "tasks.fetch": "name, --folder",
    "tasks.prepare": "task, --folder, --out, --facts",
    "tasks.world": "--out",
    "tasks.world.planting": "tasks, --counts, --books, --documents, --examples, --out",
    "workflow.analysis.cost": "--configfile",
    "workflow.analysis.figures": "name, --tables, --grid, --out",
    "workflow.config": "command",
    "workflow.show": None,  # none
}
OWN_WORDS = {  # where it is not the first line of the module
    "gpt1.corpus": "Normalise a corpus and encode it.",
    "gpt1.text.tokenizer": "Learn a byte-pair encoding from word counts.",
    "tasks.world": "Write the embedded world's books and tasks.",
    "workflow.analysis.figures": "one figure of the analysis",
}


def said(module: str, arguments: list[str], monkeypatch, capsys) -> tuple[int, str]:
    """The exit code and words of a program whose command line is told or refused."""
    monkeypatch.setattr("sys.argv", ["program", *arguments])
    monkeypatch.setenv("COLUMNS", "1000")  # no line is broken
    program = importlib.import_module(module)
    if not hasattr(program, "main"):
        program = importlib.import_module(f"{module}.__main__")
    with pytest.raises(SystemExit) as end:
        program.main()
    out, errors = capsys.readouterr()
    return end.value.code, " ".join((out + errors).split())


def test_every_program_is_tried():
    sources = [path for top in ("gpt1", "tasks", "workflow") for path in (ROOT / top).rglob("*.py")]
    found = [path for path in sources if "ArgumentParser(" in path.read_text(encoding="utf-8")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in found}
    names = {name.removesuffix(".__main__") for name in names}
    # Tables, cards and the page share one, which tests/analysis/test_analysis_programs.py tries.
    assert names - {"workflow.analysis.program"} == PROGRAMS.keys()


@pytest.mark.parametrize("module", PROGRAMS)
def test_a_program_names_all_that_it_cannot_do_without(module, monkeypatch, capsys):
    if PROGRAMS[module] is not None:
        code, text = said(module, [], monkeypatch, capsys)
        wanted = f"error: the following arguments are required: {PROGRAMS[module]}"
        assert code == 2 and text.endswith(wanted)


@pytest.mark.parametrize("module", PROGRAMS)
def test_a_program_says_what_it_is_for(module, monkeypatch, capsys):
    code, text = said(module, ["--help"], monkeypatch, capsys)
    assert code == 0 and text.startswith("usage: ")
    told = OWN_WORDS.get(module) or importlib.import_module(module).__doc__.splitlines()[0]
    assert re.split("positional arguments:|options:", text)[0].strip().endswith(told)
