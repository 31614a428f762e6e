"""Events and the sentences that describe them: statements, passives, captions and questions."""

from dataclasses import dataclass, replace
from typing import Self

from tasks.world.draw import Draw
from tasks.world.lexicon import NAMES, SYNONYM, TOPIC, VERBS

ON_TOPIC = 0.9  # probability that the place of an event is of its subject's topic, and its object
TOPICS = list(dict.fromkeys(TOPIC.values()))


@dataclass(frozen=True)
class Event:
    """Who did what to whom or what, where and when; the verb in its base form."""

    subject: str
    verb: str
    object: str
    place: str = ""
    time: str = ""

    def with_synonyms(self, *slots: str) -> Self:
        """The same event with the words in these slots replaced by their synonyms, if any."""
        words = {slot: getattr(self, slot) for slot in slots}
        return replace(self, **{slot: SYNONYM.get(word, word) for slot, word in words.items()})

    def where_and_when(self) -> str:
        """The phrases of place and time, each with a leading space."""
        return "".join(f" in the {word}" for word in (self.place, self.time) if word)

    def statement(self, negated: bool = False, fronted: bool = False) -> str:
        """An active clause in the past tense; if `fronted`, place and time come first."""
        verb = VERBS[self.verb]
        action = f"did not {verb.base}" if negated else verb.past
        clause, tail = f"{np(self.subject)} {action} {np(self.object)}", self.where_and_when()
        return f"{tail[1:]} , {clause}" if fronted and tail else clause + tail

    def passive(self) -> str:
        """A passive clause in the past tense."""
        past = VERBS[self.verb].past
        return f"{np(self.object)} was {past} by {np(self.subject)}{self.where_and_when()}"

    def caption(self, negated: bool = False) -> str:
        """A clause in the present tense, as in a picture's caption."""
        verb = VERBS[self.verb]
        action = f"does not {verb.base}" if negated else verb.third
        return f"{np(self.subject)} {action} {np(self.object)}{self.where_and_when()}"

    def question(self, word: str) -> str:
        """A question about the event that starts with where, when, who or what."""
        verb, tail = VERBS[self.verb], self.where_and_when()
        if word == "who":
            return f"who {verb.past} {np(self.object)}{tail}"
        if word == "what":
            return f"what did {np(self.subject)} {verb.base}{tail}"
        return f"{word} did {np(self.subject)} {verb.base} {np(self.object)}{tail}"


def draw_event(draw: Draw, takes: str = "", place: bool = True, time: bool = False) -> Event:
    """Draw an event, mostly of one topic; `takes`: its object is a "being", a "thing" or any."""
    topic = draw.choice(TOPICS)
    verb = draw.verb(takes)
    who = draw.of_topic("person", topic)
    sort = "person" if VERBS[verb].takes == "being" else "thing"
    return Event(
        who,
        verb,
        _of_topic(draw, sort, topic, (who,)),
        _of_topic(draw, "place", topic) if place else "",
        draw.word("time") if time else "",
    )


def _of_topic(draw: Draw, sort: str, topic: str, exclude: tuple[str, ...] = ()) -> str:
    if draw.random() < ON_TOPIC:
        return draw.of_topic(sort, topic, exclude)
    return draw.word(sort, exclude)


def np(noun: str) -> str:
    """A noun phrase; a name takes no article."""
    return noun if noun in NAMES else f"the {noun}"


def sentence(clause: str, mark: str = ".") -> str:
    """A written sentence: a capital letter, no space before commas, a mark at the end."""
    text = clause.replace(" ,", ",")
    return text[0].upper() + text[1:] + mark
