"""Probes: for every skill that the books teach, continuations of a context to choose from."""

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
from tasks.world.rows import Probe
from tasks.world.settings import WorldSettings

PATH = "Probes/probes.jsonl"
SKILLS: dict[str, Callable[[Draw], Probe]] = {
    "agreement": acceptability.probe,
    "reflexive": acceptability.probe_reflexive,
    "opinion": partial(sentiment.probe, degree="lexical"),
    "conceded opinion": partial(sentiment.probe, degree="relational"),
    "denied opinion": partial(sentiment.probe, degree="compositional"),
    "ending": partial(stories.probe, degree="lexical"),
    "ending of two": partial(stories.probe, degree="relational"),
    "ending and liking": partial(stories.probe, degree="compositional"),
    "energy": partial(entailment.probe, degree="lexical"),
    "energy of two": partial(entailment.probe, degree="relational"),
    "seldom": partial(entailment.probe, degree="compositional"),
    "surprise": entailment.probe_surprise,
    "category": taxonomy.probe_category,
    "ability": partial(taxonomy.probe_ability, degree="lexical"),
    "pronoun": coreference.probe,
}


def write_probes(draw: Draw, settings: WorldSettings) -> str:
    """JSON lines with skill, context, choices and label, `settings.probes` for each skill.

    Right choices are spread evenly over the places.
    """
    lines = []
    for skill, make in SKILLS.items():
        for place in draw.sample(range(settings.probes), settings.probes):
            probe = make(draw)
            right = place % len(probe.choices)
            wrong = list(probe.choices[1:])
            choices = [*wrong[:right], probe.choices[0], *wrong[right:]]
            line = {"skill": skill, "context": probe.context, "choices": choices, "label": right}
            lines.append(json.dumps(line) + "\n")
    return "".join(lines)
