"""The answers that follow from the world's rules, derived from the text of an example alone.

`answer(task, example)` reads the texts with `parser.py` and the lexicon's tables; it knows nothing
of how rows are generated. A score of 100 on every split shows that every label follows from its
text.
"""

from tasks import Example
from tasks.world.lexicon import HYPONYM, STSB_WEIGHTS, SYNONYM, relation
from tests.world import oracle_rules
from tests.world.parser import Reading, read

THREE = ("entailment", "neutral", "contradiction")
SLOTS = ("subject", "object", "place", "time")


def answer(task: str, example: Example) -> int | float:
    """The label of an example: an index into the task's labels or choices; for STS-B a score."""
    match task:
        case "snli" | "mnli":
            return three_way(example)
        case "qnli":
            return 0 if answers_question(example) else 1
        case "rte":
            return 0 if follows(example) else 1
        case "scitail":
            return int(follows(example))
        case "race":
            return race(example)
        case "story_cloze":
            return oracle_rules.ending(example)
        case "mrpc" | "qqp":
            return int(equivalent(example))
        case "stsb":
            return similarity_score(example)
        case "sst2":
            return int(oracle_rules.is_positive(example.first))
        case "cola":
            return int(oracle_rules.is_grammatical(example.first))
        case "dprd":
            return oracle_rules.referent(example)
    raise ValueError(f"no rules for {task!r}")


def same(one: str, two: str) -> bool:
    """Whether two nouns name one concept."""
    return one == two or SYNONYM.get(one) == two


def is_a(one: str, two: str) -> bool:
    """Whether the first noun is, or is a kind of, the second."""
    return same(one, two) or HYPONYM.get(one) == two


def covers(premise: Reading, claim: Reading) -> bool:
    """Whether the premise says everything that the claim says, verbs aside."""
    return all(
        not getattr(claim, slot) or is_a(getattr(premise, slot), getattr(claim, slot))
        for slot in SLOTS
    )


def same_action(one: Reading, two: Reading) -> bool:
    """Whether two verbs name one action."""
    return relation(one.verb, two.verb) in ("same", "synonym")


def three_way(example: Example) -> int:
    """Opposite actions exclude each other; unrelated actions say nothing about one another."""
    premise, claim = read(example.first), read(example.second)
    verbs = relation(premise.verb, claim.verb)
    if not covers(premise, claim) or verbs == "other":
        return THREE.index("neutral")
    agrees = (verbs != "antonym") != claim.negated
    return THREE.index("entailment" if agrees else "contradiction")


def follows(example: Example) -> bool:
    """Whether a clause of the premise covers the claim."""
    claim = read(example.second)
    clauses = [read(clause) for clause in example.first.split(" and ")]
    return any(covers(clause, claim) and same_action(clause, claim) for clause in clauses)


def answers_question(example: Example) -> bool:
    """Whether the sentence is about the action and states the place or the time asked for."""
    question, statement = read(example.first), read(example.second)
    if not (same_action(question, statement) and covers(statement, question)):
        return False
    return bool(statement.place if question.asks == "where" else statement.time)


def equivalent(example: Example) -> bool:
    """Whether two sentences say, or ask, the same."""
    one, two = read(example.first), read(example.second)
    agree = all(same(getattr(one, slot), getattr(two, slot)) for slot in SLOTS)
    return agree and one.asks == two.asks and same_action(one, two)


def similarity_score(example: Example) -> float:
    """The weight of what agrees, fully or by half."""
    one, two = read(example.first), read(example.second)
    score = 0.0
    for slot, weight in STSB_WEIGHTS.items():
        first, second = getattr(one, slot), getattr(two, slot)
        if slot == "verb":
            credit = {"antonym": 0.5, "other": 0.0}.get(relation(first, second), 1.0)
        else:
            siblings = first in HYPONYM and HYPONYM.get(second) == HYPONYM[first]
            credit = 1.0 if same(first, second) else 0.5 * siblings
        score += weight * credit
    return score


def race(example: Example) -> int:
    """Find the one sentence that the question is about, and the word it asks for."""
    question = read(example.second)
    events = [read(part) for part in example.first.split(".") if part.strip()]
    about = [e for e in events if same_action(e, question) and covers(e, question)]
    assert len(about) == 1, f"{len(about)} sentences answer {example.second!r}"
    slot = {"who": "subject", "where": "place", "what": "object"}[question.asks]
    nouns = [choice.rstrip(".").split()[-1] for choice in example.choices]
    return nouns.index(getattr(about[0], slot))
