"""A disk that is full at any stage, or read-only: each job says so, and no half file stays."""

import re

import pytest

from tests.faults.disks import filled, mounted, remount
from tests.faults.runs import (
    RESULTS,
    contents,
    ended,
    failed_rules,
    finished,
    leftovers,
    new_project,
    start,
    start_tables,
    tables,
)

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("mounts")]
CHECKPOINT = "transformer/seed-0/update-40.json"
STAGES = {  # a rule, and a file that its job makes
    "world": "world/manifest.json",
    "documents": "corpus/documents.json",
    "tokenizer": "tokenizer/merges.bpe",
    "tokens": "corpus/corpus.json",
    "pretrain": f"pretrain/{CHECKPOINT}",
    "examples": "examples/rte.json",
    "baselines_word_classes": "corpus/word_classes.json",
    "baselines": "baselines/rte.json",
    "encode": "encoded/rte.json",
    "contamination": "contamination/rte.json",
    "finetune_ablation_transformer": "cells/full/rte.json",
    "zero_shot": "zero_shot/transformer/race/seed-0/update-40.json",
    "cloze": f"cloze/{CHECKPOINT}",
    "samples_transformer_ablation": "samples/transformer_ablation.parquet",
    "table_cells": "cells.csv",
    "table_ablation": "ablation.csv",
    "figure_ablation": "figures/ablation.png",
    "page": "index.html",
}


def test_a_disk_that_is_full_at_any_stage_fails_its_job_alone_and_keeps_no_half_file(
    whole, tmp_path
):
    disk, project = tmp_path / "disk", new_project(tmp_path / "project")
    with mounted(disk, f"size={4 * whole.size}"):
        (project / RESULTS).symlink_to(disk)
        for rule, file in STAGES.items():
            target = (f"{RESULTS}/{file}", "--cores", "1")
            finished(start(project, *target, "--omit-from", rule))
            before = contents(disk)
            with filled(disk):
                code, said = ended(start(project, *target))
            assert code and failed_rules(said) == {rule}, said
            assert re.search(r"^ *error: .*No space left on device", said, re.MULTILINE), said
            assert contents(disk) == before, rule
        finished(start_tables(project))
        assert tables(project) == whole.tables and not leftovers(disk)


def test_a_read_only_disk_is_told_and_changes_nothing(tmp_path):
    """In one line while the run is planned, whether its files are there or not."""
    disk, project = tmp_path / "disk", new_project(tmp_path / "project")
    with mounted(disk, "size=64m"):
        (project / RESULTS).symlink_to(disk)
        finished(start(project, f"{RESULTS}/world/manifest.json", "--cores", "1"))
        before = contents(disk)
        remount(disk, "ro")
        for options in (["--forceall"], []):
            target = f"{RESULTS}/corpus/documents.json"
            code, said = ended(start(project, target, "--cores", "1", *options))
            _profile, line = said.splitlines()
            assert code and line.startswith(
                f"error: config: results: '{RESULTS}' cannot be written"
            )
        assert contents(disk) == before
        remount(disk, "rw")
        finished(start(project, f"{RESULTS}/corpus/documents.json", "--cores", "1"))
