"""Forecast what a config will cost on this machine, from a short measurement.

    python -m workflow.analysis.cost --configfile workflow/config/world.yaml
    python -m workflow.analysis.cost --configfile workflow/config/novels.yaml --config data=FOLDER
    python -m workflow.analysis.cost --configfile workflow/config/world.yaml --against results

`--against` says how far the forecast is from what a finished run of the config took. Every kind of
update is timed for a quarter of a second and multiplied by the updates that the config asks for.
Core-hours on a CPU; on a GPU hours of one card that does one job at a time, and its MFU. What is
left out: preparing the data but for starting its programs, tables, Snakemake, and waiting.
"""

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tasks.common.errors import importing, run

with importing(__name__):
    import pandas as pd
    import torch

    from gpt1.cell import Arch
    from tasks.common.files import read_json
    from workflow.analysis import cost_against, flops, markdown, measure, workload
    from workflow.configuration.model import Config
    from workflow.configuration.read import ConfigError, parse, read

HEADINGS = ["stage", "model", "runs", "updates", "tokens", "PFLOP", "hours", "MFU"]
PUBLISHED_VOCABULARY = 40_478


@dataclass(frozen=True)
class Forecast:
    """What one stage of one architecture will take; `seconds` of cores, or of a GPU."""

    stage: str
    model: str
    runs: int
    updates: float = 0.0
    tokens: float = 0.0
    flops: float = 0.0
    seconds: float = 0.0


def n_vocab(config: Config) -> int:
    """The size of the vocabulary, or what it will be at most."""
    corpus = Path(config.results, "corpus", "corpus.json")
    if corpus.exists():
        return int(read_json(corpus)["n_vocab"])
    merges = config.experiment.tokenizer.merges
    return merges + 200 if merges else PUBLISHED_VOCABULARY  # characters, alone and at a word's end


def forecast(config: Config, progress: bool = False) -> list[Forecast]:
    """The stages of a run."""
    rows, vocabulary, grid = [], n_vocab(config), config.grid()
    for arch in grid.arch:
        if grid.has_corpus:
            rows += _pretraining(config, arch, vocabulary, progress)
    spent: dict[str, list[Forecast]] = defaultdict(list)
    for work in workload.fine_tuning(config):
        _say(progress, f"timing {work.arch} on {work.task}, aux {work.aux}")
        spent[work.arch].append(_fine_tuning(config, work, vocabulary))
    for name, parts in spent.items():
        numbers = {
            key: sum(getattr(part, key) for part in parts)
            for key in ("runs", "updates", "tokens", "flops", "seconds")
        }
        rows.append(Forecast("fine-tuning", name, **numbers))
    jobs = workload.n_jobs(config)
    rows.append(Forecast("starting processes", "", jobs, seconds=jobs * measure.start()))
    return rows


def _pretraining(config: Config, arch: Arch, vocabulary: int, progress: bool) -> list[Forecast]:
    """Pre-training with its held-out scores, then zero-shot scoring at the same pace."""
    _say(progress, f"timing pre-training, {arch}")
    grid, settings = config.grid(), config.pretrain(arch, 0)
    models = [m for m in (*grid.models(), *grid.models("shuffled")) if m.arch == arch]
    tokens = settings.batch * settings.model.n_ctx
    seconds = measure.pretraining(config, arch, vocabulary)
    forward = seconds / tokens / 3
    n, total = len(models), settings.updates * tokens
    heldout = len(grid.updates) * settings.heldout_tokens * forward
    count = total * flops.per_token(settings.model, vocabulary, settings.model.n_ctx)
    scored = workload.zero_shot_tokens(config, arch)
    return [
        Forecast(
            *("pre-training", arch, n, n * settings.updates, n * total, n * count),
            n * (settings.updates * seconds + heldout),
        ),
        Forecast(
            *("zero-shot", arch, n, 0, scored),
            *(scored * count / total / 3, scored * forward),
        ),
    ]


def _fine_tuning(config: Config, work: workload.FineTuningWork, vocabulary: int) -> Forecast:
    settings = config.finetune(work.arch, work.task, work.aux)
    key = (work.arch, work.task, work.aux)
    pace = measure.fine_tuning(config, *key, work.size, vocabulary)
    tokens = work.tokens(settings.batch)
    per_token = flops.per_token(settings.model, vocabulary, work.size.length, work.aux == "on")
    seconds = work.updates * pace.update + work.scored * pace.row
    updates = work.runs * work.updates
    return Forecast(
        *("fine-tuning", work.arch, work.runs, updates, tokens, tokens * per_token),
        work.runs * seconds,
    )


def page(rows: list[Forecast], config: Config) -> str:
    """The forecast as Markdown."""
    gpu = config.runtime.device.startswith("cuda")
    peak = flops.peak(torch.cuda.get_device_name()) if gpu else None
    lines = [[*_line(row, peak)] for row in rows]
    total = sum(row.seconds for row in rows) / 3600
    lines.append(["all", "", "", "", "", "", f"{total:.2f}", ""])
    table = pd.DataFrame(lines, columns=HEADINGS).rename(
        columns={"hours": "GPU-hours" if gpu else "core-hours"}
    )
    if not peak:  # of an unknown card, or of a CPU, there is no share of a peak to give
        table = table.drop(columns="MFU")
    sizes = [workload.task_size(config, name) for name in config.grid().tasks]
    counted = sum(size.counted for size in sizes)
    note = (
        f"Rows and lengths of {counted} of {len(sizes)} tasks are counted in {config.results}, "
        "those of the others are expected."
    )
    return "\n\n".join([markdown.render(table.set_index("stage")), note])


def _line(row: Forecast, peak: float | None) -> list[str]:
    share = ""
    if peak and row.flops and row.seconds:
        share = f"{row.flops / row.seconds / peak:.1%}"
    numbers = [f"{x:,.0f}" if x else "" for x in (row.runs, row.updates, row.tokens)]
    count = f"{row.flops / 1e15:.3g}" if row.flops else ""
    return [row.stage, row.model, *numbers, count, f"{row.seconds / 3600:.3f}", share]


def against(rows: list[Forecast], config: Config, results: Path) -> pd.DataFrame:
    """The forecast's stages beside the seconds of a finished run's jobs."""
    seconds: dict[str, float] = defaultdict(float)
    for row in rows:
        seconds[row.stage] += row.seconds
    pretrain, finetune = config.runtime_of("pretrain"), config.runtime_of("finetune")
    threads = {"pre-training": pretrain.threads * config.runtime.pretrain_processes}
    threads["fine-tuning"] = finetune.threads
    return cost_against.compare(seconds, results, threads)


def _say(progress: bool, text: str) -> None:
    if progress:
        print(text, file=sys.stderr, flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configfile", type=Path, nargs="+", required=True)
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--against", type=Path, metavar="RESULTS", help="a finished run's folder")
    a = parser.parse_args()
    try:
        config = parse(read(a.configfile, a.config))
    except ConfigError as error:
        sys.exit(str(error))
    if a.against:
        cost_against.run_seconds(a.against, {})  # before half a minute of measuring
    rows = forecast(config, progress=True)
    print(page(rows, config))
    if a.against:
        print("\n" + cost_against.page(against(rows, config, a.against), a.against))


if __name__ == "__main__":
    sys.exit(run(main))
