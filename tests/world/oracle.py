"""The answers that follow from the world's rules, derived from the text of an example alone.

`answer(task, example)` reads the texts with `parser.py` and the lexicon's tables; it knows nothing
of how rows are generated. A score of 100 on every split shows that every label follows from its
text.
"""

from tasks import Example
from tasks.world.lexicon import ANIMALS, CLASSES, HYPONYM, SYNONYM, VERBS
from tasks.world.paraphrase import STSB_OPINION, STSB_WEIGHTS, STSB_WORK
from tests.world import oracle_rules
from tests.world.parser import PLURALS, Reading, read, sentences, tokens

THREE = ("entailment", "neutral", "contradiction")
SLOTS = ("subject", "object", "place", "time")
SLOT = {"who": "subject", "what": "object", "where": "place", "when": "time"}
OF_STATE = {"certain": "entailment", "possible": "neutral", "impossible": "contradiction"}


def relation(one: str, two: str) -> str:
    """How two verbs are related: "same", "synonym", "antonym" or "other"."""
    if one == two:
        return "same"
    first, second = VERBS[one], VERBS[two]
    if first.quartet != second.quartet:
        return "other"
    return "synonym" if first.side == second.side else "antonym"


def answer(task: str, example: Example) -> int | float:
    """The label of an example: an index into the task's labels or choices; for STS-B a score."""
    match task:
        case "snli" | "mnli":
            return THREE.index(three_way(example.first, example.second))
        case "qnli":
            return 0 if answers_question(example) else 1
        case "rte":
            return 0 if follows(example.second, example.first) else 1
        case "scitail":
            return int(is_fact(example.second, example.first))
        case "race":
            return race(example.first, example.second, example.choices)
        case "story_cloze":
            return oracle_rules.ending(example.first, example.choices)
        case "mrpc" | "qqp":
            return int(equivalent(example.first, example.second))
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
    return one == two or SYNONYM.get(one, "") == two


def is_a(one: str, two: str) -> bool:
    """Whether the first noun is, or is a kind of, the second."""
    return same(one, two) or HYPONYM.get(one, "") == two


def covers(premise: Reading, claim: Reading) -> bool:
    """Whether the premise says everything that the claim says, verbs aside."""
    return all(
        not getattr(claim, slot) or is_a(getattr(premise, slot), getattr(claim, slot))
        for slot in SLOTS
    )


def same_action(one: Reading, two: Reading) -> bool:
    """Whether two verbs name one action."""
    return relation(one.verb, two.verb) in ("same", "synonym")


def three_way(first: str, second: str) -> str:
    """States tell by themselves; opposite actions exclude, others say nothing of, each other."""
    premise, claim = read(first), read(second)
    if claim.state:
        return OF_STATE[claim.state] if same(premise.subject, claim.subject) else "neutral"
    verbs = relation(premise.verb, claim.verb)
    if not covers(premise, claim) or verbs == "other":
        return "neutral"
    return "entailment" if (verbs != "antonym") != claim.negated else "contradiction"


def follows(claim: str, premise: str) -> bool:
    """Whether a clause of the premise implies the claim."""
    said, clauses = read(claim), [read(clause) for clause in premise.split(" and ")]
    if said.state:
        return said.state == "certain" and any(same(c.subject, said.subject) for c in clauses)
    return any(covers(clause, said) and same_action(clause, said) for clause in clauses)


def is_fact(claim: str, premise: str) -> bool:
    """Whether a claim about kinds is true, or follows from the premise."""
    words = tokens(claim)
    if words[1] == "can":
        return (HYPONYM[PLURALS[words[0]]] in ANIMALS) == (words[2] in CLASSES["ability"])
    if words[1] == "are":
        return is_a(PLURALS[words[0]], PLURALS[words[2]])
    fact, said = read(premise), read(claim)
    return covers(fact, said) and same_action(fact, said)


def answers_question(example: Example) -> bool:
    """Whether the sentence is about the action and states the place or the time asked for.

    Why somebody was happy or sad is answered by news of this kind about the same person.
    """
    why = oracle_rules.asked_mood(example.first)
    if why:
        return oracle_rules.is_reason(example.second, *why)
    question, statement = read(example.first), read(example.second)
    about = same_action(question, statement) and covers(statement, question)
    return about and bool(getattr(statement, SLOT[question.asks]))


def equivalent(first: str, second: str) -> bool:
    """Whether two sentences say, or ask, the same; a mood repeats an opinion of its kind."""
    mood = oracle_rules.mood(second)
    if mood is not None:
        return mood == oracle_rules.is_positive(first)
    one, two = read(first), read(second)
    agree = all(same(getattr(one, slot), getattr(two, slot)) for slot in SLOTS)
    return agree and one.asks == two.asks and same_action(one, two)


def similarity_score(example: Example) -> float:
    """The weight of the parts that agree; opposite actions count by half in a passive."""
    works = [oracle_rules.work(text) for text in (example.first, example.second)]
    if all(works):
        one, two = oracle_rules.is_positive(example.first), oracle_rules.is_positive(example.second)
        return STSB_OPINION * (one == two) + STSB_WORK * (works[0] == works[1])
    one, two = read(example.first), read(example.second)
    score = 0.0
    for slot, weight in STSB_WEIGHTS.items():
        first, second = getattr(one, slot), getattr(two, slot)
        if slot != "verb":
            score += weight * same(first, second)
        else:
            credit = {"same": 1.0, "synonym": 1.0, "antonym": 0.5, "other": 0.0}
            score += weight * credit[relation(first, second)]
    return score


def race(passage: str, asked: str, choices: tuple[str, ...]) -> int:
    """Find the one sentence that the question is about, and the word it asks for."""
    question = read(asked)
    events = [read(part) for part in sentences(passage)]
    about = [event for event in events if same_action(event, question) and covers(event, question)]
    assert len(about) == 1, f"{len(about)} sentences answer {asked!r}"
    right = getattr(about[0], SLOT[question.asks])
    fits = [same(tokens(choice)[-1], right) for choice in choices]
    assert sum(fits) == 1, f"{sum(fits)} choices answer {asked!r}"
    return fits.index(True)
