"""The words of the embedded world and how their meanings are related.

Every action, person, thing, place and time has exactly two names (synonyms), used without
preference; actions come in opposite pairs; kinds of animals, plants and tools have a category.
Labels follow from these tables and from nothing else.
"""

from dataclasses import dataclass


def words(text: str) -> list[str]:
    """Split a line into its words."""
    return text.split()


def _entries(text: str) -> list[tuple[str, ...]]:
    """The entries of a table, separated by bars or line ends, each split into its words."""
    return [tuple(entry.split()) for line in text.splitlines() for entry in line.split("|")]


# two synonyms, the gender of their pronoun, and the place where one is usually found
_PEOPLE = _entries("""boy lad m barn|girl lass f garden|man fellow m street|woman lady f meadow
sailor seaman m river|doctor physician m street|teacher tutor m church|thief robber m cellar
king ruler m castle|soldier warrior m forest|merchant trader m shop|cook chef m inn
maid servant f cottage|guard watchman m castle""")
PEOPLE = [entry[:2] for entry in _PEOPLE]
THINGS = _entries("""cup mug|coat jacket|hat cap|bag sack|box chest|jug pitcher|boat ship|stone rock
rope cord|lamp lantern|picture painting|letter note|broom brush|ring band""")
PLACES = _entries("""forest wood|barn shed|cottage cabin|shop store|river stream|meadow field
cellar basement|garden yard|church chapel|castle palace|inn tavern|street lane""")
TIMES = [("dawn", "sunrise"), ("noon", "midday"), ("dusk", "sunset"), ("night", "midnight")]
CATEGORIES = {
    "dog": words("hound terrier collie spaniel"),
    "bird": words("robin crow owl sparrow"),
    "fish": words("eel herring shark minnow"),
    "fruit": words("apple plum cherry pear"),
    "flower": words("rose lily daisy tulip"),
    "tool": words("hammer rake spade axe"),
}
ANIMALS = ("dog", "bird", "fish")
NAMES_F = words("Anna Ruth Clara Emma Lucy Nora Jane Mary Alice Ellen Rosa Ida Grace Helen")
NAMES_M = words("Tom Paul Peter Jack Henry Oscar Hugo Simon Frank Adam Carl Leo Martin Ralph")
NAMES = NAMES_F + NAMES_M

# two synonyms : their two antonyms : what the object is; irregular past forms after `=`
_VERBS = """help aid : harm injure : being
praise commend : blame scold : being
love adore : hate detest : being
follow chase : avoid dodge : being
free release : catch=caught capture : being
buy=bought purchase : sell=sold trade : thing
find=found discover : lose=lost misplace : thing
fix mend : crack smash : thing
lift raise : drop=dropped lower : thing
push shove : pull drag=dragged : thing
cover conceal : reveal display : thing
wash clean : soil stain : thing
fill load : empty drain : thing"""

POSITIVE = words(
    "lovely charming splendid wonderful delightful superb brilliant pleasant graceful excellent "
    "marvellous fine"
)
NEGATIVE = words(
    "awful dull dreadful terrible boring horrid clumsy tiresome ugly dismal feeble poor"
)
NEGATORS = ("not", "never", "hardly", "far from")
WORKS = words("tale story song tune play show dinner meal speech talk dance feast")
HAPPY = words("happy glad cheerful merry proud")
SAD = words("sad gloomy upset miserable ashamed")
REJOICE = words("smiled laughed sang danced cheered")
MOURN = words("wept sobbed cried sighed moaned")
COLOURS = words("red blue green white black yellow")
SIZES = words("big large small little")
# why A did this to B: adjectives that describe A, adjectives that describe B
REASONS = {
    "help": (words("kind gentle"), words("weak ill")),
    "harm": (words("cruel mean"), words("vain rude")),
    "praise": (words("polite cheerful"), words("clever brave")),
    "blame": (words("angry cross"), words("lazy careless")),
    "follow": (words("hungry curious"), words("rich famous")),
    "avoid": (words("shy timid"), words("cruel mean")),
    "free": (words("noble brave"), words("innocent ill")),
    "catch": (words("quick clever"), words("slow careless")),
}
# adverbs for the actions of the first, and of the second, side of a quartet
MANNERS = (words("gladly gently bravely kindly"), words("sadly roughly rudely angrily"))
# STS-B's score: the weight of each part of an event that agrees; they sum to 5
STSB_WEIGHTS = {"subject": 1.0, "verb": 1.5, "object": 1.5, "place": 1.0}
_PLURALS = {
    "man": "men",
    "woman": "women",
    "lady": "ladies",
    "seaman": "seamen",
    "watchman": "watchmen",
    "thief": "thieves",
    "cherry": "cherries",
    "lily": "lilies",
    "daisy": "daisies",
}


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


def _ends_in_sibilant(word: str) -> bool:
    return word.endswith(("s", "sh", "ch", "x"))


def _verb(entry: str, quartet: int, side: int, takes: str) -> Verb:
    base, _, past = entry.partition("=")
    y = base.endswith("y") and base[-2] not in "aeiou"
    third = base[:-1] + "ies" if y else base + ("es" if _ends_in_sibilant(base) else "s")
    regular = base[:-1] + "ied" if y else base + ("d" if base.endswith("e") else "ed")
    return Verb(base, third, past or regular, quartet, side, takes)


def _quartet(number: int, line: str) -> list[list[Verb]]:
    *sides, takes = line.split(" : ")
    return [[_verb(entry, number, i, takes) for entry in words(sides[i])] for i in (0, 1)]


QUARTETS = [_quartet(number, line) for number, line in enumerate(_VERBS.splitlines())]
VERBS = {verb.base: verb for quartet in QUARTETS for side in quartet for verb in side}
HYPONYM = {kind: category for category, kinds in CATEGORIES.items() for kind in kinds}
_SYNONYMS = PEOPLE + THINGS + PLACES + TIMES
_SYNONYMS += [(one.base, two.base) for quartet in QUARTETS for one, two in quartet]
SYNONYM = {a: b for one, two in _SYNONYMS for a, b in ((one, two), (two, one))}
GENDER = {word: entry[2] for entry in _PEOPLE for word in entry[:2]}
GENDER |= {name: "f" for name in NAMES_F} | {name: "m" for name in NAMES_M}


def plural(noun: str) -> str:
    """The plural of a noun."""
    return _PLURALS.get(noun) or noun + ("es" if _ends_in_sibilant(noun) else "s")


def a(noun: str) -> str:
    """The noun with its indefinite article."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def he(person: str) -> str:
    """The subject pronoun of a person's name or noun."""
    return "she" if GENDER[person] == "f" else "he"


def him(person: str) -> str:
    """The object pronoun of a person's name or noun."""
    return "her" if GENDER[person] == "f" else "him"


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


def usual_objects(verb: str) -> list[str]:
    """What an action is usually done to; synonyms and antonyms share their usual objects."""
    entry = VERBS[verb]
    alike = [q for q, (side, _) in enumerate(QUARTETS) if side[0].takes == entry.takes]
    place = alike.index(entry.quartet)
    nouns = PEOPLE if entry.takes == "being" else THINGS
    kinds = [k for k, c in HYPONYM.items() if (c in ANIMALS) == (entry.takes == "being")]
    found = [word for pair in nouns[place :: len(alike)] for word in pair]
    return found + kinds[place :: len(alike)]


def usual_places(person: str) -> tuple[str, str]:
    """Both names of the place where a person is usually found."""
    place = next(entry[3] for entry in _PEOPLE if person in entry[:2])
    return place, SYNONYM[place]
