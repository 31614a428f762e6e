"""Paraphrase: do two texts say, or ask, the same? MRPC, QQP and STS-B.

The books retell an event in other words, or deny its opposite.
"""

from dataclasses import replace

from tasks.world.draw import Draw
from tasks.world.grammar import Event, draw_event, sentence
from tasks.world.lexicon import GENDER, SYNONYM, THINGS, TOPIC, VERBS, a, opposites
from tasks.world.rows import Degree, Probe, Row
from tasks.world.sentiment import opinion

# STS-B's score: the weight of agreeing opinions and of their being of one work; and of each part of
# an event that agrees. Either sums to 5.
STSB_OPINION, STSB_WORK = 4.0, 1.0
STSB_WEIGHTS = {"subject": 1.0, "verb": 1.5, "object": 1.5, "place": 1.0}
NOUNS = ("subject", "object", "place")
SAME, OTHER = "That is the same.", "That is something else."
LIKED = 0.8  # share of questions on a work that was liked; so the mood alone hints at the label
DENIED = 0.1  # share of the paragraphs that deny the opposite of an event
EXPLAINED = 0.2  # share of the paragraphs that explain words
COMPARED = 0.1  # share of the paragraphs that compare two tales
ASKED_AGAIN = 0.1  # share of the paragraphs that ask a question twice


def renamed(draw: Draw, event: Event) -> Event:
    """The event with synonyms for one or two of its nouns."""
    slots = [slot for slot in NOUNS if getattr(event, slot)]
    return event.with_synonyms(*draw.sample(slots, draw.choice((1, 2))))


def retold(draw: Draw, event: Event) -> Event:
    """The event with a synonym for its verb and perhaps for its nouns."""
    return renamed(draw, event.with_synonyms("verb"))


def with_other(draw: Draw, event: Event, slot: str) -> Event:
    """The event with another word of the same sort in this slot, but no synonym."""
    word = getattr(event, slot)
    if slot == "verb":
        return replace(event, verb=draw.verb(VERBS[word].takes, (word,)))
    sort = "place" if slot == "place" else "person" if word in GENDER else "thing"
    barred = (event.subject, event.object, event.place)
    return replace(event, **{slot: draw.word(sort, barred)})


def _report(draw: Draw, event: Event) -> str:
    return sentence(event.statement(fronted=draw.random() < 0.3))


def mrpc(draw: Draw, label: str, degree: Degree) -> Row:
    """Two reports, of one event or of two.

    Lexical: an opinion of a work, and how everyone felt. Relational: an event, and the same in
    other words or one with another action or object. Compositional: one report is passive, and
    another event is the same with the roles exchanged.
    """
    same = label == "1"
    if degree == "lexical":
        positive = draw.random() < 0.5
        mood = draw.word("happy" if positive == same else "sad")
        second = f"everyone in the {draw.word('place')} was {mood}"
        return Row(sentence(opinion(draw, positive)), sentence(second), label, degree=degree)
    event = draw_event(draw, "being" if degree == "compositional" else "")
    if degree == "relational":
        other = retold(draw, event) if same else renamed(draw, _another(draw, event))
        second = _report(draw, other)
    else:
        other = retold(draw, event)
        if not same:
            other = replace(other, subject=other.object, object=other.subject)
        second = sentence(other.passive())
    return Row(_report(draw, event), second, label, degree=degree)


def _another(draw: Draw, event: Event) -> Event:
    """The event with the opposite action, another action, or the same with another object.

    No word for the action is repeated, as in an event told again.
    """
    if draw.random() < 0.4:
        return replace(event, verb=draw.choice(opposites(event.verb)))
    if draw.random() < 0.5:
        return with_other(draw, event, "verb")
    return with_other(draw, event.with_synonyms("verb"), "object")


def qqp(draw: Draw, label: str, degree: Degree) -> Row:
    """Two questions that ask the same thing, or do not.

    Lexical: why a work was liked (mostly) or not, and why all were happy or sad. Relational: about
    the same action and object, or not. Compositional: in other words, for the same fact or another.
    """
    same = label == "1"
    if degree == "lexical":
        liked = draw.random() < LIKED
        judged = draw.word("positive" if liked else "negative")
        work, who = draw.word("work"), draw.word("person")
        mood = draw.word("happy" if liked == same else "sad")
        forms = (f"was the {work} of the {who} so", f"did the {who} find the {work} so")
        first = f"why {draw.choice(forms)} {judged}"
        second = f"why was everyone in the {draw.word('place')} {mood}"
        return Row(sentence(first, "?"), sentence(second, "?"), label, degree=degree)
    word = draw.choice(("where", "when"))
    event = draw_event(draw, place=False)
    first = sentence(event.question(word), "?")
    other, asks = retold(draw, event), word
    if degree == "relational" and not same:
        other = renamed(draw, _another(draw, event))
    elif not same:
        asks = "when" if word == "where" else "where"
    return Row(first, sentence(other.question(asks), "?"), label, degree=degree)


def stsb(draw: Draw, label: str, degree: Degree) -> Row:
    """Two reports; the score is the weight of the parts that agree.

    Lexical: whether two opinions agree, and are of one work. Relational: which parts of two events
    agree, by the same word or a synonym. Compositional: one report is passive as well, and an
    opposite action counts half.
    """
    if degree == "lexical":
        positive, agree, alike = (draw.random() < 0.5 for _ in range(3))
        work = draw.word("work")
        other_work = draw.word("work", (work,))
        first = opinion(draw, positive, work)
        second = opinion(draw, positive == agree, work if alike else other_work)
        score = STSB_OPINION * agree + STSB_WORK * alike
        return Row(sentence(first), sentence(second), f"{score:.3f}", degree=degree)
    event = draw_event(draw)
    other, score, quality = event, 0.0, draw.random()
    for slot, weight in STSB_WEIGHTS.items():
        if draw.random() < quality:
            score += weight
            if draw.random() < 0.7:
                other = other.with_synonyms(slot)
        elif slot == "verb" and degree == "compositional" and draw.random() < 0.5:
            other = replace(other, verb=draw.choice(opposites(event.verb)))
            score += weight / 2
        else:
            other = with_other(draw, other, slot)
    second = other.passive() if degree == "compositional" else other.statement()
    return Row(sentence(event.statement()), sentence(second), f"{score:.3f}", degree=degree)


def paragraph(draw: Draw) -> str:
    """An event told or asked twice, or its opposite denied; tales compared; words explained."""
    form = draw.random()
    if form < COMPARED:
        return _comparison(draw)
    if form < COMPARED + ASKED_AGAIN:
        row = qqp(draw, "1", "lexical")
        return f"{row.first} {row.second}"
    if form > 1 - EXPLAINED:
        return _explanation(draw)
    event = draw_event(draw, place=draw.random() < 0.5)
    first = sentence(event.statement(fronted=draw.random() < 0.2))
    again = retold(draw, event)
    if form < COMPARED + ASKED_AGAIN + DENIED:
        denied = replace(again, verb=draw.choice(opposites(event.verb)))
        return f"{first} {sentence(replace(denied, place='').statement(negated=True))}"
    told = again.passive() if draw.random() < 0.2 else again.statement()
    link = draw.choice(("in other words , ", "that is , ", "so "))
    return f"{first} {sentence(link + told)}"


def _explanation(draw: Draw) -> str:
    """What each of three words means, or whether it means another."""
    lines = []
    for sort in draw.choices(("quartet", "person", "thing", "place"), (4, 2, 2, 1), k=3):
        if sort == "quartet":
            verb = draw.verb()
            lines.append(
                f"to {verb} is to {SYNONYM[verb]} , not to {draw.choice(opposites(verb))}."
            )
            continue
        word = draw.word(sort)
        asked = draw.choice((SYNONYM[word], draw.word(sort, (word,))))
        answer = "Yes." if asked == SYNONYM[word] else "No."
        explained = f"{a(word)} is {a(SYNONYM[word])}."
        lines.append(draw.choice((explained, f"is {a(word)} {a(asked)}? {answer}")))
    return " ".join(sentence(line, "") for line in lines)


def _comparison(draw: Draw) -> str:
    """Two reports, or two questions, and whether they say, or ask, the same."""
    make = draw.choice((mrpc, qqp))
    degree: Degree = draw.choices(("lexical", "relational", "compositional"), (6, 3, 1))[0]
    label = draw.choice("10")
    row = make(draw, label, degree)
    return f"{row.first} {row.second} {SAME if label == '1' else OTHER}"


def probe_action(draw: Draw) -> Probe:
    """The same action in another word, not the opposite one."""
    event = draw_event(draw, place=False)
    first = sentence(event.statement()) + " In other words,"
    wrong = replace(event, verb=draw.choice(opposites(event.verb)))
    right = event.with_synonyms("verb")
    return Probe(first, (right.statement() + ".", wrong.statement() + "."))


def probe_comparison(draw: Draw) -> Probe:
    """Whether two reports or questions say the same."""
    make = draw.choice((mrpc, qqp))
    label = draw.choice("10")
    row = make(draw, label, "relational")
    choices = (SAME, OTHER) if label == "1" else (OTHER, SAME)
    return Probe(f"{row.first} {row.second}", choices)


def probe_noun(draw: Draw) -> Probe:
    """The same thing by its other name, not another thing of the same topic."""
    event = draw_event(draw, "thing", place=False)
    again = event.with_synonyms("verb", "object")
    topic = TOPIC[event.object]
    others = [w for pair in THINGS for w in pair if TOPIC[w] == topic]
    others = [w for w in others if w not in (event.object, SYNONYM[event.object])]
    wrong = replace(again, object=draw.choice(others))
    context = sentence(event.statement()) + " In other words,"
    return Probe(context, (again.statement() + ".", wrong.statement() + "."))
