"""Probes: for every skill that the books teach, continuations of a context to choose from."""

import json
from collections.abc import Callable

from tasks.world import (
    acceptability,
    coreference,
    entailment,
    paraphrase,
    questions,
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
    "opinion": sentiment.probe,
    "ending": stories.probe,
    "state": entailment.probe,
    "claim": entailment.probe_claim,
    "ability": taxonomy.probe_ability,
    "category": taxonomy.probe_category,
    "synonym of a verb": paraphrase.probe_action,
    "synonym of a noun": paraphrase.probe_noun,
    "comparison": paraphrase.probe_comparison,
    "kind of answer": questions.probe_kind,
    "copying": questions.probe_copying,
    "reading": questions.probe_reading,
    "reason": coreference.probe,
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
