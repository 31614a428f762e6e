"""Which sources are mutated, and the tests that concern each: those that are quick come first.

The first pattern that fits a source is its own. Left out is what changes no number, label or
curve: the generator of the world, which has an oracle of its own (but what is planted in its
books), downloads, and programs that only start others.
"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch

from tests.alarms.faults import ROOT

TOPS = ("gpt1", "tasks", "workflow")
MODEL = ("models", "lm_loss", "layout", "embedding", "drawn_drops", "facts", "reference")
MODEL += ("dropout", "method")
TRAINING = ("optim", "method", "facts", "reference", "finetune", "cells")
PRETRAINING = ("pretrain", "reference", "facts", "memory")
SCORING = ("zero_shot", "probes", "prompts")
CELLS = ("cells", "finetune", "predict", "encode")
READERS = (
    *("task_published", "readers", "task_layouts", "task_bad_input", "task_checks"),
    *("task_prepare", "unlabelled"),
)
STATISTICS = ("formulas", "analysis_tables", "claims", "trends", "uncertainty")
TABLES = ("analysis_tables", "analysis_labels", "analysis_programs", "analysis_notes")
FIGURES = ("figures_axes", "figures_places", "analysis_drawn", "analysis_figures")
BY_TEXT = {  # tests of every source with such a text
    "ArgumentParser(": "tests/workflow/test_programs.py",
    "analysis.program import parser": "tests/workflow/test_programs.py",
    "frozen=True": "tests/workflow/test_frozen.py",
}

CONCERNS: dict[str, dict[str, tuple[str, ...]]] = {
    "gpt1/model/modern.py": {"gpt1": ("modern",)},
    "gpt1/model/*.py": {"gpt1": MODEL},
    "gpt1/training/batching.py": {"gpt1": ("batching", "facts", "reference", "zero_shot")},
    "gpt1/training/optim.py": {"gpt1": TRAINING},
    "gpt1/training/layer_rates.py": {"gpt1": TRAINING},
    "gpt1/training/finetune.py": {"gpt1": ("finetune", *TRAINING, "switches")},
    "gpt1/training/multi_task.py": {"gpt1": ("multi_task",)},
    "gpt1/training/task_data.py": {"gpt1": ("finetune", *TRAINING, "switches")},
    "gpt1/training/inference.py": {"gpt1": ("finetune", "predict", "facts", "reference")},
    "gpt1/training/windows.py": {"gpt1": PRETRAINING},
    "gpt1/training/accumulation.py": {"gpt1": PRETRAINING},
    "gpt1/training/pretraining.py": {"gpt1": PRETRAINING},
    "gpt1/training/states.py": {"gpt1": PRETRAINING},
    "gpt1/training/encoded.py": {"gpt1": ("encode", "batching", "cells")},
    "gpt1/training/predictions.py": {"gpt1": CELLS},
    "gpt1/training/cell_runner.py": {"gpt1": CELLS},
    "gpt1/training/run_cache.py": {"gpt1": ("run_cache", *CELLS)},
    "gpt1/training/scorer.py": {"gpt1": SCORING},
    "gpt1/zero_shot.py": {"gpt1": SCORING},
    "gpt1/probes.py": {"gpt1": SCORING},
    "gpt1/prompts.py": {"gpt1": SCORING},
    "gpt1/prompted.py": {"gpt1": SCORING},
    "gpt1/generate.py": {"gpt1": ("generate",)},
    "gpt1/keep.py": {"gpt1": ("predict",)},
    "gpt1/predict.py": {"gpt1": ("predict",)},
    "gpt1/weights/kept.py": {"gpt1": ("predict",)},
    "gpt1/weights/checkpoint.py": {
        "gpt1": ("models", "cells", "pretrain"),
        "fuzz": ("saved_files",),
    },
    "gpt1/variant.py": {"gpt1": ("variant",), "workflow": ("studies",)},
    "gpt1/encode.py": {"gpt1": ("encode",)},
    "gpt1/contamination.py": {"gpt1": ("contamination", "ngrams")},
    "gpt1/longest_match.py": {"gpt1": ("longest_match",)},
    "gpt1/text/ngrams.py": {"gpt1": ("ngrams", "contamination")},
    "gpt1/text/normalise.py": {"gpt1": ("text", "corpus", "published_bpe")},
    "gpt1/text/shuffle.py": {"gpt1": ("shuffle",)},
    "gpt1/text/tokenizer.py": {"gpt1": ("bpe", "text", "published_bpe")},
    "tasks/metrics.py": {"tasks": ("task_metrics",), "gpt1": ("finetune",)},
    "tasks/stsb.py": {"tasks": ("task_metrics",), "gpt1": ("facts", "finetune")},
    "tasks/baselines.py": {"tasks": ("task_baselines",)},
    "tasks/splits.py": {"tasks": ("task_splits", "task_prepare")},
    "tasks/known.py": {"tasks": ("known", "task_splits", "task_prepare", "task_checks")},
    "tasks/task.py": {"tasks": (*READERS, "task_baselines", "hub_sources", "task_snapshot")},
    "tasks/glue.py": {"tasks": ("hub_sources", "task_snapshot", *READERS)},
    "tasks/examples.py": {"tasks": ("task_prepare", "unlabelled")},
    "tasks/world/planting.py": {"world": ("planting",)},
    "tasks/prepare.py": {"tasks": ("task_prepare", "task_checks", "unlabelled")},
    "tasks/checks.py": {"tasks": ("task_checks", "task_prepare")},
    "tasks/readers.py": {"tasks": READERS},
    "tasks/unlabelled.py": {"tasks": ("unlabelled", "task_layouts")},
    "tasks/nli.py": {"tasks": READERS},
    "tasks/qa.py": {"tasks": READERS},
    "tasks/similarity.py": {"tasks": READERS},
    "tasks/classification.py": {"tasks": READERS},
    "tasks/dprd.py": {"tasks": READERS},
    "workflow/analysis/page/*.py": {"analysis": ("page_glance", "page")},
    "workflow/analysis/studies/detectors.py": {"analysis": ("planted",)},
    "workflow/analysis/studies/heat_map.py": {"analysis": ("knockout",)},
    "workflow/analysis/studies/knockout.py": {"analysis": ("knockout",)},
    "workflow/analysis/studies/planted*.py": {"analysis": ("planted",)},
    "workflow/analysis/studies/*.py": {"analysis": ("studies", "knockout", "planted")},
    "workflow/analysis/figures/cost.py": {"analysis": ("cost",)},
    "workflow/analysis/figures/probes.py": {"analysis": ("analysis_probes", *FIGURES)},
    "workflow/analysis/figures/*.py": {"analysis": FIGURES},
    "workflow/analysis/tables/cost*.py": {"analysis": ("cost", "analysis_programs")},
    "workflow/analysis/tables/probes.py": {"analysis": ("analysis_probes", "analysis_programs")},
    "workflow/analysis/tables/degrees.py": {"analysis": ("analysis_degrees",)},
    "workflow/analysis/tables/contamination.py": {"analysis": ("analysis_decontaminated",)},
    "workflow/analysis/tables/claims.py": {"analysis": ("claims",)},
    "workflow/analysis/tables/positive_control.py": {"analysis": ("analysis_positive_control",)},
    "workflow/analysis/tables/*.py": {"analysis": TABLES},
    "workflow/analysis/claims.py": {"analysis": ("claims",)},
    "workflow/analysis/evidence.py": {"analysis": ("claims", "analysis_positive_control")},
    "workflow/analysis/decontaminated.py": {"analysis": ("analysis_decontaminated",)},
    "workflow/analysis/submission.py": {"analysis": ("submission",)},
    "workflow/analysis/cards.py": {"analysis": ("analysis_cards",)},
    "workflow/analysis/flops.py": {"analysis": ("cost", "cost_forecast"), "workflow": ("studies",)},
    "workflow/analysis/cost*.py": {"analysis": ("cost_forecast", "cost")},
    "workflow/analysis/workload.py": {"analysis": ("cost_forecast", "cost")},
    "workflow/analysis/job_costs.py": {"analysis": ("cost",), "workflow": ("show",)},
    "workflow/analysis/uncertainty.py": {"analysis": STATISTICS},
    "workflow/analysis/row_bootstrap.py": {"analysis": STATISTICS},
    "workflow/analysis/moderation.py": {"analysis": STATISTICS},
    "workflow/analysis/trends.py": {"analysis": STATISTICS},
    "workflow/analysis/samples.py": {"analysis": ("analysis_labels", *STATISTICS)},
    "workflow/analysis/statistics.py": {"analysis": ("statistics", *TABLES)},
    "workflow/analysis/collect.py": {"analysis": TABLES},
    "workflow/analysis/cells.py": {"analysis": TABLES},
    "workflow/analysis/records.py": {"analysis": (*TABLES, "analysis_probes")},
    "workflow/analysis/predictions.py": {"analysis": ("analysis_decontaminated", *STATISTICS)},
    "workflow/analysis/markdown.py": {"analysis": (*TABLES, "page", "studies")},
    "workflow/analysis/table.py": {"analysis": ("analysis_programs", "analysis_tables")},
    "workflow/analysis/notes.py": {"analysis": ("analysis_notes",)},
    "workflow/grid.py": {"workflow": ("grid", "studies")},
    "workflow/studies.py": {"workflow": ("studies",)},
    "workflow/books.py": {"workflow": ("books",)},
    "workflow/screens.py": {"workflow": ("show",)},
    "workflow/show.py": {"workflow": ("show",)},
    "workflow/progress.py": {"workflow": ("progress", "show")},
}


def concerned(source: str) -> tuple[str, ...]:
    """The test files that concern a source, from the root; none for one that is not mutated."""
    for pattern, folders in CONCERNS.items():
        if fnmatch(source, pattern):
            named = [(folder, name) for folder, names in folders.items() for name in names]
            tests = [f"tests/{at}/test_{name}.py" for at, name in named]
            text = (ROOT / source).read_text(encoding="utf-8")
            tests += [test for part, test in BY_TEXT.items() if part in text]
            return tuple(dict.fromkeys(tests))
    return ()


def sources(chosen: Iterable[str] = ()) -> Iterator[str]:
    """The sources that are mutated, or those of them that are named or in a folder that is.

    Raises ValueError for a name of none.
    """
    files = (file for top in TOPS for file in (ROOT / top).rglob("*.py"))
    paths = sorted(file.relative_to(ROOT).as_posix() for file in files)
    every = [path for path in paths if concerned(path)]
    for name in [one.rstrip("/") for one in chosen] or [""]:
        found = [path for path in every if not name or f"{path}/".startswith(f"{name}/")]
        if not found:
            raise ValueError(f"{name}: no source that is mutated; see tests/mutation/concerns.py")
        yield from found
