"""A kept cell as a folder for the Hugging Face hub: model, tokenizer, and a card made of the run.

python -m workflow.analysis.export transformer/rte/aux-on/layers-12 --results R --out FOLDER
hf upload NAME/MODEL FOLDER
"""

import argparse
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

from tasks.common.errors import importing, run

with importing(__name__):
    import pandas as pd
    from huggingface_hub import EvalResult, ModelCardData
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from pydantic import AliasPath, Field

    import tasks
    from gpt1.cell import Cell, home
    from gpt1.settings import RuntimeSettings
    from gpt1.text.hub_tokenizer import same_tokens
    from gpt1.text.tokenizer import Tokenizer
    from gpt1.weights import fine_tuned, kept
    from tasks.common.arrow import read_split
    from tasks.common.files import write_atomic
    from workflow import code
    from workflow.analysis import markdown
    from workflow.analysis.card import Card
    from workflow.analysis.cards import facts
    from workflow.analysis.records import CellRecord
    from workflow.analysis.stats.samples import NOT_REPORTED

TEMPLATE = "model_card.md"
TABLE = "layer_transfer.csv"  # has every cell of the grid


class KeptRecord(CellRecord):
    """Of a kept cell's JSON what its card says."""

    code: str = Field(validation_alias=AliasPath("digests", "code"))
    versions: dict[str, str]


def export(results: Path, cell: Cell, out: Path, seed: int | None = None) -> None:
    """Write the folder of one seed, by default the first.

    Raises InputError for a cell that is not kept or that the format does not hold; nothing is
    written then.
    """
    found, task = kept.read(cell.kept(results)), tasks.task(cell.task)
    seed, tokenizer = found.seeds[0] if seed is None else seed, Tokenizer.load(found.folder)
    model = found.load(seed, task.spec, tokenizer.n_vocab, RuntimeSettings())
    card = _card(results, cell, found, seed, out.name)
    fine_tuned.write(out, found, model, task)
    with write_atomic(out / "README.md") as file:
        file.write(card)


def _card(results: Path, cell: Cell, found: kept.KeptCell, seed: int, name: str) -> str:
    """The model card: the header that the hub reads, and the text."""
    record, model = KeptRecord.read(found.folder / kept.CELL), found.settings.model
    own = home(results, cell.variant)  # has the rows of a study that changes them
    rows_at = own if (own / "encoded" / f"{cell.task}.json").exists() else results
    card = Card.read(rows_at, cell.task, model.n_ctx)
    folder = rows_at / "examples" / cell.task
    rows = [row for split in card.facts.report for row in read_split(folder, split).to_pylist()]
    texts = {text for row in rows for text in (row["first"], row["second"], *row["choices"])} - {""}
    truncated = max(card.truncated[split] for split in card.facts.report)
    scores = _scores(results, cell, record, seed)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template(TEMPLATE).render(
        name=name,
        cell=cell,
        card=card,
        family=card.task.family,
        facts=facts(card),
        row={key: json.dumps(rows[0][key]) for key in ("first", "second", "choices")},
        same=f"{same_tokens(Tokenizer.load(found.folder), texts):,}",
        texts=f"{len(texts):,}",
        truncated=f"{truncated:.1%}" if truncated else "",
        precision=found.runtime.precision,
        scores=markdown.render(_shown(scores)),
        seed=seed,
        n_seeds=len(record.seeds),
        model=model,
        settings=found.settings.model_dump(),
        code=_code(record),
        licence="MIT" if card.is_synthetic else f"that of the data: {facts(card)['Licence']}",
    )
    return f"---\n{_header(card, scores, name)}\n---\n\n{text}"


def _scores(results: Path, cell: Cell, record: KeptRecord, seed: int) -> pd.DataFrame:
    """A row for each reported split and metric: this seed's score, the mean and its interval."""
    own = next(one for one in record.seeds if one.seed == seed).scores
    known = _interval(results, cell)
    rows = []
    for split in (split for split in own if split not in NOT_REPORTED):
        for metric, score in own[split].items():
            mean = sum(one.scores[split][metric] for one in record.seeds) / len(record.seeds)
            low, high = known.get((split, metric), (math.nan, math.nan))
            baselines = (record.baselines.majority, record.baselines.bag_of_words)
            simple = (of.get(split, {}).get(metric, math.nan) for of in baselines)
            rows.append((split, metric, score, mean, low, high, *simple))
    names = ["split", "metric", "score", "mean", "low", "high", *markdown.BASELINES]
    return pd.DataFrame(rows, columns=names)


def _interval(results: Path, cell: Cell) -> dict[tuple[str, str], tuple[float, float]]:
    """The intervals of the cell in the table of all cells, by split and metric.

    None of a cell of a study or of a control, or where there is no table: of a run of one cell.
    """
    path = results / TABLE
    if cell.variant or cell.corpus != "books" or not path.exists():
        return {}
    table = pd.read_csv(path, dtype={"n_transfer": str})
    place = {key: str(getattr(cell, key)) for key in ("arch", "task", "aux", "n_transfer")}
    mine = table[(table[list(place)] == pd.Series(place)).all(axis=1)]
    return {(row.split, row.metric): (row.ci_low, row.ci_high) for row in mine.itertuples()}


def _shown(scores: pd.DataFrame) -> pd.DataFrame:
    """The scores as text."""
    shown = {
        "metric": scores["metric"].map(markdown.METRICS),
        "this model": markdown.column(scores["score"], ".1f"),
        "mean of the seeds [95 % interval]": markdown.intervals(scores, "mean", "low", "high"),
    }
    for name, title in markdown.BASELINES.items():
        shown[title] = markdown.column(scores[name], ".1f")
    return pd.DataFrame(shown).set_index(scores["split"])


def _header(card: Card, scores: pd.DataFrame, name: str) -> str:
    """The YAML that the hub reads."""
    task, facts, hub = card.task, card.facts, card.task.hub
    from_hub = facts.origin["source"] == "hub"
    kind = "multiple-choice" if task.family == "multiple_choice" else "text-classification"
    evaluations = [
        EvalResult(
            task_type=kind,
            dataset_type=hub.repo if from_hub else "own" if facts.own else task.name,
            dataset_name=f"{task.title} ({facts.note})" if facts.note else task.title,
            dataset_split=row.split,
            metric_type=row.metric,
            metric_value=round(row.score, 2),
        )
        for row in scores.itertuples()
    ]
    data = ModelCardData(
        model_name=name,
        eval_results=evaluations,
        datasets=[hub.repo] if from_hub else None,
        language="en",
        license="mit" if card.is_synthetic else "other",
        library_name="transformers",
        pipeline_tag=kind,
        tags=["gpt1"],
    )
    return data.to_yaml()


def _code(record: KeptRecord) -> str:
    """What trained the cell; a commit is named if it has the same code."""
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    same = record.code == code.digest("gpt1.finetune") and shutil.which("git")
    head = ["git", "-C", str(code.ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True).stdout.strip() if same else ""
    return f"digest {record.code}{f' (commit {commit})' if commit else ''}; {versions}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", type=Cell.named, help="as in experiment.keep")
    parser.add_argument("--results", required=True, type=Path, help="the results folder")
    parser.add_argument("--out", required=True, type=Path, help="the folder to write")
    parser.add_argument("--seed", type=int, help="of fine-tuning (default: the first one kept)")
    a = parser.parse_args()
    export(a.results, a.cell, a.out, a.seed)
    print(f"{a.out}: to share it, run hf upload NAME/{a.out.name} {a.out}")


if __name__ == "__main__":
    sys.exit(run(main))
