"""Write the page of a run: one HTML file that requests nothing and depends on its inputs alone.

It begins with the run at a glance. The environment variable RUN_CONFIG names the file of the run's
config, RUN_OPTIONS has the Snakemake options that chose it. Both are only shown, so changing them
reruns nothing.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.common.files import write_atomic
from workflow.analysis import markdown
from workflow.analysis.claims.finding import (
    DOES_NOT_HOLD,
    EQUAL,
    HOLDS,
    NOT_RUN,
    UNDECIDED,
    VERDICTS,
    shown,
)
from workflow.analysis.page.run import TONES, Run, from_markdown, raised
from workflow.analysis.paper import (
    EMBEDDINGS,
    FITTED,
    FULL,
    LSTM,
    NO_AUX,
    NO_PRETRAINING,
    VECTORS,
    PaperModel,
)
from workflow.analysis.stats.scores import DISAGREE
from workflow.analysis.tables.claims import decided
from workflow.analysis.tables.positive_control import LEAD
from workflow.grid import Grid, PagePlan

HERE = Path(__file__).parent
TEMPLATES = ("page.html", "outline.html")  # the frame, and its content
YES = {HOLDS: "Yes", DOES_NOT_HOLD: "No", EQUAL: "No difference that matters"}
# By question of the paper: what verdicts say, and claims, the first of which that was run answers.
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "Does pre-training help?": (YES, "Pre-training helps on average"),
    "Is it more than words?": (
        YES,
        "More than word-level information is transferred",
        "More is learnt than the best shallow baseline sees",
    ),
    "Does the auxiliary loss help?": (
        {HOLDS: "No, it costs points", DOES_NOT_HOLD: "Yes", EQUAL: YES[EQUAL]},
        "The average over the paper's eight tasks is higher without the auxiliary loss",
    ),
    "Transformer or LSTM?": (
        {HOLDS: "The transformer", DOES_NOT_HOLD: "The LSTM", EQUAL: YES[EQUAL]},
        "The LSTM scores less on average",
    ),
    "Do more layers help?": (
        YES,
        "The layers above the embeddings help",
        "The layers above the embeddings help MNLI",
    ),
    "Do zero-shot scores rise along pre-training?": (
        YES,
        "Zero-shot scores rise along pre-training",
    ),
}
SIDES = {  # of a contrast, in a sentence
    FULL.name: "the full model",
    NO_PRETRAINING.name: "the same network without pre-training",
    NO_AUX.name: "the model without the auxiliary loss",
    LSTM.name: "the LSTM",
    VECTORS.name: "a small network on word vectors",
    FITTED.name: "a small network from scratch",
    EMBEDDINGS.name: "its embeddings alone",
    "best baseline of each task": "the best baseline of each task",
}


def glance(run: Run) -> dict[str, Any]:
    """What the tables say in a few numbers; each is empty or 0 if its table is missing.

    `answers` has the paper's questions, each with its answer and a sentence with the numbers.
    `checks` counts the positive control's checks by outcome, yes or no. `leads` has the points by
    which the full model is ahead of the best baseline of each task, on average and on compositional
    rows; `above_words` those by which it is ahead of the bag of words. `verdicts` counts the claims
    by verdict, and `decided` says how many lines are decided. `gain` is what pre-training adds on
    average, with its `interval`; `over_fitted` is the gain over a small network from scratch.
    `runs` counts fine-tuning runs, `alarms` those with an alarm of their own, `cells` the cells and
    `disagree` those whose seeds disagree. Raises InputError for a damaged table.
    """
    found: dict[str, Any] = dict.fromkeys(("answers", "checks", "leads", "verdicts"), ())
    found |= dict.fromkeys(("above_words", "decided", "gain", "interval", "over_fitted"), "")
    found |= dict.fromkeys(("runs", "alarms", "cells", "disagree"), 0)
    if (ablation := run.frame("ablation")) is not None:
        mean = ablation[(ablation["task"] == "avg_all") & (ablation["variant"] == FULL.title)]
        lead = (mean["mean"] - mean["bag_of_words"]).dropna()
        found["above_words"] = f"{lead.iloc[0]:z.1f}" if len(lead) else ""
        found["gain"], _, found["interval"] = _gain(ablation, NO_PRETRAINING).partition(" ")
        found["over_fitted"] = _gain(ablation, FITTED)
    if (control := run.frame("positive_control")) is not None:
        outcomes = control["met"].value_counts()
        found["checks"] = outcomes.reindex(["yes", "no"], fill_value=0).to_dict()
        leads = control.loc[control["check"].str.startswith(LEAD), "ours"].dropna()
        found["leads"] = [markdown.value(points) for points in leads]
    if (claims := run.frame("claims")) is not None:
        n, data = claims["verdict"].value_counts(), claims["data"].iloc[0]
        found["verdicts"] = {shown(verdict, data): n.get(verdict, 0) for verdict in VERDICTS}
        found |= {"decided": decided(claims), "answers": [*_answers(claims)]}
    if (runs := run.fine_tuning_runs()) is not None:
        of_runs, of_cells = raised(runs)
        found |= {"runs": len(of_runs), "alarms": int(of_runs.any(axis=1).sum())}
        disagree = int(of_cells.get(DISAGREE, pd.Series()).sum())
        found |= {"cells": len(of_cells), "disagree": disagree}
    return found


def _answers(claims: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Each of the paper's questions, the answer in words, and the contrast that gives it."""
    known = claims[claims["verdict"] != NOT_RUN]
    for question, (said, *statements) in QUESTIONS.items():
        lines = pd.concat([known[known["statement"] == of] for of in statements])
        if lines.empty:
            yield question, NOT_RUN.capitalize(), ""
        else:
            row = lines.iloc[0]
            yield question, said.get(row["verdict"], UNDECIDED.capitalize()), _sentence(row)


def _sentence(claim: pd.Series) -> str:
    """A claim's contrast with its interval, in a sentence."""
    tasks, numbers = claim["tasks"], [claim[name] for name in ("ours", "ci_low", "ci_high")]
    a, minus, b = claim["contrast"].partition(" − ")
    on = f"the {tasks} tasks" if tasks.startswith("mean") else tasks
    if not minus:
        return f"On {on}, the {a} is {markdown.interval(*numbers)}."
    ours, low, high = numbers
    more, numbers = ("more", numbers) if ours >= 0 else ("less", [-ours, -high, -low])
    points = markdown.interval(*numbers)
    first, second = (SIDES.get(side, side) for side in (a, b))
    return f"{first[0].upper()}{first[1:]} scores {points} points {more} than {second} on {on}."


def _gain(ablation: pd.DataFrame, over: PaperModel) -> str:
    """The full transformer minus a variant with nothing transferred, in the mean of all tasks."""
    is_gain = (ablation["task"] == "avg_all") & (ablation["variant"] == over.title)
    limits = -ablation.loc[is_gain, ["diff", "diff_high", "diff_low"]].dropna(subset="diff")
    return markdown.interval(*limits.iloc[0]) if len(limits) else ""


def html(results: Path, grid: Grid, page: PagePlan) -> str:
    """The page. Raises InputError for a damaged table."""
    templates = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made = Run(results, grid, page, os.environ.get("RUN_OPTIONS", ""))
    config = os.environ.get("RUN_CONFIG")
    return templates.get_template(TEMPLATES[0]).render(
        run=made,
        glance=glance(made),
        tones=TONES,
        from_markdown=from_markdown,
        config=Path(config).read_text(encoding="utf-8") if config else "",
        css=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "page.js").read_text(encoding="utf-8")),
    )


def write(results: Path, grid: Grid, page: PagePlan) -> None:
    """Write the page to the results folder."""
    text = html(results, grid, page)
    with write_atomic(results / "index.html") as file:
        file.write(text)
