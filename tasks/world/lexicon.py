"""The words of the embedded world and how their meanings are related.

People, things and places belong to topics and have two names each (synonyms), used without
preference; actions come in quartets of two synonyms and their two antonyms; kinds of animals,
plants and tools have a category. Opinions, moods, states and reasons are classes of adjectives.
Labels follow from these tables and from nothing else.
"""

from dataclasses import dataclass


def words(text: str) -> list[str]:
    """Split a line into its words."""
    return text.split()


# Topic : two people (two names and the gender of the pronoun) : two things : two places.
_TABLE = """
sea : sailor seaman m|captain skipper m : boat ship|rope cord : harbour port|river stream
farm : farmer peasant m|boy lad m : cart wagon|sack bag : barn shed|meadow field
inn : cook chef m|maid servant f : cup mug|jug pitcher : inn tavern|kitchen scullery
castle : king ruler m|soldier warrior m : sword blade|ring band : castle palace|tower keep
town : woman lady f|thief robber m : coat jacket|hat cap : street lane|square plaza
school : teacher tutor m|girl lass f : letter note|picture painting : church chapel|school academy
market : merchant dealer m|doctor physician m : box chest|broom brush : shop store|cellar basement
forest : hunter trapper m|witch sorceress f : lamp lantern|stone rock : forest wood|cabin cottage"""
_TOPICS = {
    topic: [[tuple(words(entry)) for entry in table.split("|")] for table in tables]
    for topic, *tables in (line.split(" : ") for line in _TABLE.strip().splitlines())
}
PEOPLE = [entry[:2] for people, _, _ in _TOPICS.values() for entry in people]
THINGS = [entry for _, things, _ in _TOPICS.values() for entry in things]
PLACES = [entry for _, _, places in _TOPICS.values() for entry in places]
TOPIC = {
    word: topic
    for topic, tables in _TOPICS.items()
    for table in tables
    for entry in table
    for word in entry[:2]
}
TIMES = words("morning evening night afternoon winter summer spring autumn fog storm rain snow")
CATEGORIES = {
    "dog": words("hound terrier collie spaniel poodle beagle"),
    "bird": words("robin crow owl sparrow finch thrush"),
    "fish": words("eel herring shark minnow trout salmon"),
    # three of them take "an", so that some are left to either part when words are held out
    "fruit": words("apple orange apricot cherry pear peach"),
    "flower": words("rose lily daisy tulip violet poppy"),
    "tool": words("rake spade axe saw chisel drill"),
}
ANIMALS = ("dog", "bird", "fish")
NAMES_F = words("Anna Ruth Clara Emma Lucy Nora Jane Mary Alice Ellen")
NAMES_M = words("Tom Paul Peter Jack Henry Oscar Hugo Simon Frank Adam")
NAMES = NAMES_F + NAMES_M

# two synonyms : their two antonyms : what the object is; irregular past forms after `=`
_VERBS = """help aid : harm injure : being
praise commend : blame scold : being
follow chase : avoid dodge : being
free release : catch=caught capture : being
buy=bought purchase : sell=sold trade : thing
find=found discover : lose=lost misplace : thing
fix mend : crack smash : thing
lift raise : drop=dropped lower : thing
cover conceal : reveal display : thing
wash clean : soil stain : thing"""

NEGATORS = ("not", "hardly", "far from", "by no means")
# Classes of words, by the names under which a `Draw` draws them.
CLASSES = {
    "work": words("tale story song tune play show dinner meal speech talk dance feast"),
    "positive": words(
        "lovely charming splendid wonderful delightful superb brilliant pleasant graceful "
        "excellent pretty fine"
    ),
    "negative": words(
        "awful dreadful terrible boring horrible tiresome frightful wretched shocking worthless "
        "dismal poor"
    ),
    # how people feel after good and after bad news, and what such news is
    "happy": words("happy glad cheerful merry proud joyful"),
    "sad": words("sad gloomy upset miserable ashamed bitter"),
    "gain": words("won earned saved recovered inherited regained"),
    "loss": words("ruined wasted spoiled missed forgot burned"),
    # what must be true, may be true and cannot be true of somebody who is doing something
    "certain": words("awake alive busy present active able ready near"),
    "possible": words("hungry tired rich lonely thirsty famous old wet"),
    "impossible": words("asleep dead idle absent still helpless unready far"),
    # what living things do, and what befalls things
    "ability": words("eat breathe sleep grow hear feel"),
    "mishap": words("rust bend crumble fade rot split"),
    # why somebody did something to another: adjectives of the one, adjectives of the other
    "doer": words("curious eager greedy restless impatient stubborn"),
    "done_to": words("weak innocent helpful loyal honest patient"),
}
# STS-B's score: the weight of agreeing opinions and of their being of one work; and of each part of
# an event that agrees. Either sums to 5.
STSB_OPINION, STSB_WORK = 4.0, 1.0
STSB_WEIGHTS = {"subject": 1.0, "verb": 1.5, "object": 1.5, "place": 1.0}
_PLURALS = {"seaman": "seamen", "thief": "thieves", "woman": "women"}
_PLURALS |= {noun: noun for noun in ("fish", "trout", "salmon")}


@dataclass(frozen=True)
class Verb:
    """A verb: its forms, the quartet and the side of it (0 or 1) it belongs to, and its object.

    The two verbs of a side are synonyms, those of opposite sides antonyms; `takes` is "being" or
    "thing".
    """

    base: str
    third: str
    past: str
    quartet: int
    side: int
    takes: str


def _with_s(word: str) -> str:
    """A word with the ending of a plural or of a third person."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "sh", "ch", "x")) else "s")


def _verb(entry: str, quartet: int, side: int, takes: str) -> Verb:
    base, _, past = entry.partition("=")
    regular = base + ("d" if base.endswith("e") else "ed")
    if base.endswith("y") and base[-2] not in "aeiou":
        regular = base[:-1] + "ied"
    return Verb(base, _with_s(base), past or regular, quartet, side, takes)


def _quartet(number: int, line: str) -> list[list[Verb]]:
    *sides, takes = line.split(" : ")
    return [[_verb(entry, number, i, takes) for entry in words(sides[i])] for i in (0, 1)]


QUARTETS = [_quartet(number, line) for number, line in enumerate(_VERBS.splitlines())]
VERBS = {verb.base: verb for quartet in QUARTETS for side in quartet for verb in side}
HYPONYM = {kind: category for category, kinds in CATEGORIES.items() for kind in kinds}
_SYNONYMS = PEOPLE + THINGS + PLACES
_SYNONYMS += [(one.base, two.base) for quartet in QUARTETS for one, two in quartet]
SYNONYM = {a: b for one, two in _SYNONYMS for a, b in ((one, two), (two, one))}
GENDER = {
    word: entry[2] for people, _, _ in _TOPICS.values() for entry in people for word in entry[:2]
}
GENDER |= {name: "f" for name in NAMES_F} | {name: "m" for name in NAMES_M}


def plural(noun: str) -> str:
    """The plural of a noun."""
    return _PLURALS.get(noun) or _with_s(noun)


def a(noun: str) -> str:
    """The noun with its indefinite article."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def he(person: str) -> str:
    """The subject pronoun of a person's name or noun."""
    return "she" if GENDER[person] == "f" else "he"


def opposites(verb: str) -> tuple[str, str]:
    """The two antonyms of a verb."""
    entry = VERBS[verb]
    one, two = QUARTETS[entry.quartet][1 - entry.side]
    return one.base, two.base


def relation(one: str, two: str) -> str:
    """How two verbs are related: "same", "synonym", "antonym" or "other"."""
    if one == two:
        return "same"
    first, second = VERBS[one], VERBS[two]
    if first.quartet != second.quartet:
        return "other"
    return "synonym" if first.side == second.side else "antonym"
