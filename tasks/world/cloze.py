"""Cloze items: for every skill that the books teach, continuations of a context to choose from."""

import json
from collections.abc import Callable
from functools import partial

from tasks.world import (
    acceptability,
    coreference,
    entailment,
    sentiment,
    stories,
    taxonomy,
)
from tasks.world.draw import Draw
from tasks.world.rows import ClozeItem
from tasks.world.settings import WorldSettings

PATH = "Cloze/items.jsonl"
SKILLS: dict[str, Callable[[Draw], ClozeItem]] = {
    "agreement": acceptability.cloze,
    "reflexive": acceptability.cloze_reflexive,
    "opinion": partial(sentiment.cloze, degree="lexical"),
    "conceded opinion": partial(sentiment.cloze, degree="relational"),
    "denied opinion": partial(sentiment.cloze, degree="compositional"),
    "ending": partial(stories.cloze, degree="lexical"),
    "ending of two": partial(stories.cloze, degree="relational"),
    "ending and liking": partial(stories.cloze, degree="compositional"),
    "energy": partial(entailment.cloze, degree="lexical"),
    "energy of two": partial(entailment.cloze, degree="relational"),
    "seldom": partial(entailment.cloze, degree="compositional"),
    "surprise": entailment.cloze_surprise,
    "category": taxonomy.cloze_category,
    "ability": partial(taxonomy.cloze_ability, degree="lexical"),
    "pronoun": coreference.cloze,
}


def write_cloze(draw: Draw, settings: WorldSettings) -> str:
    """JSON lines with skill, context, choices and label, `settings.cloze` for each skill.

    The places of the right choices are evenly distributed.
    """
    lines = []
    for skill, make in SKILLS.items():
        for place in draw.sample(range(settings.cloze), settings.cloze):
            item = make(draw)
            right = place % len(item.choices)
            wrong = list(item.choices[1:])
            choices = [*wrong[:right], item.choices[0], *wrong[right:]]
            line = {"skill": skill, "context": item.context, "choices": choices, "label": right}
            lines.append(json.dumps(line) + "\n")
    return "".join(lines)
