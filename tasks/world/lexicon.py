"""The words of the embedded world and what they mean to one another.

Every action, person, thing and place has exactly two names (synonyms), which the world uses without
any preference; actions come in opposite pairs; kinds of animals, plants and tools have a category.
Each fact below is a rule of the world: labels follow from these tables and from nothing else.
"""

from dataclasses import dataclass


def words(text: str) -> list[str]:
    """The words of a line."""
    return text.split()


# two synonyms, the gender of the pronoun, and the place where one is mostly found
PEOPLE = [
    tuple(line.split())
    for line in """boy lad m barn|girl lass f garden|man fellow m street|woman lady f meadow
sailor seaman m river|doctor physician m street|teacher tutor m church|thief robber m cellar
king ruler m castle|soldier warrior m forest|merchant trader m shop|cook chef m inn
maid servant f cottage|guard watchman m castle""".replace("\n", "|").split("|")
]
THINGS = [
    tuple(pair.split())
    for pair in """cup mug|coat jacket|hat cap|bag sack|box chest|jug pitcher|boat ship|stone rock
rope cord|lamp lantern|picture painting|letter note|broom brush|ring band""".replace(
        "\n", "|"
    ).split("|")
]
PLACES = [
    tuple(pair.split())
    for pair in """forest wood|barn shed|cottage cabin|shop store|river stream|meadow field
cellar basement|garden yard|church chapel|castle palace|inn tavern|street lane""".replace(
        "\n", "|"
    ).split("|")
]
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

# two synonyms : two antonyms; the object is a being or a thing; irregular pasts are written out
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
# why one did something to another: what the doer was, what the other one was
REASONS = {
    "help": ("kind gentle", "weak ill"),
    "harm": ("cruel mean", "vain rude"),
    "praise": ("polite cheerful", "clever brave"),
    "blame": ("angry cross", "lazy careless"),
    "follow": ("hungry curious", "rich famous"),
    "avoid": ("shy timid", "cruel mean"),
    "free": ("noble brave", "innocent ill"),
    "catch": ("quick clever", "slow careless"),
}
# how one does what the first, or the second, of two opposite actions is
MANNERS = (words("gladly gently bravely kindly"), words("sadly roughly rudely angrily"))
# what the agreement of each part of an event is worth to the similarity of two
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
    """One action word: its forms, its pair of opposite concepts and the side that it is on."""

    base: str
    third: str
    past: str
    quartet: int
    side: int
    takes: str


def _hiss(word: str) -> bool:
    return word.endswith(("s", "sh", "ch", "x"))


def _verb(entry: str, quartet: int, side: int, takes: str) -> Verb:
    base, _, past = entry.partition("=")
    y = base.endswith("y") and base[-2] not in "aeiou"
    third = base[:-1] + "ies" if y else base + ("es" if _hiss(base) else "s")
    regular = base[:-1] + "ied" if y else base + ("d" if base.endswith("e") else "ed")
    return Verb(base, third, past or regular, quartet, side, takes)


def _quartets() -> list[tuple[tuple[Verb, Verb], tuple[Verb, Verb]]]:
    found = []
    for number, line in enumerate(_VERBS.splitlines()):
        left, right, takes = (part.split() for part in line.split(":"))
        found.append(
            tuple(
                tuple(_verb(entry, number, side, takes[0]) for entry in words)
                for side, words in enumerate((left, right))
            )
        )
    return found


QUARTETS = _quartets()
VERBS = {verb.base: verb for quartet in QUARTETS for side in quartet for verb in side}
HYPONYM = {kind: category for category, kinds in CATEGORIES.items() for kind in kinds}
SYNONYM = {
    a: b
    for first, second, *_ in PEOPLE + THINGS + PLACES + TIMES
    for a, b in ((first, second), (second, first))
}
for _quartet in QUARTETS:
    for _one, _two in _quartet:
        SYNONYM[_one.base], SYNONYM[_two.base] = _two.base, _one.base
GENDER = {word: line[2] for line in PEOPLE for word in line[:2]}
GENDER |= {name: "f" for name in NAMES_F} | {name: "m" for name in NAMES_M}


def plural(noun: str) -> str:
    """The plural of a noun."""
    return _PLURALS.get(noun) or noun + ("es" if _hiss(noun) else "s")


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
    """How two verbs stand to one another: same, synonym, antonym or other."""
    if one == two:
        return "same"
    first, second = VERBS[one], VERBS[two]
    if first.quartet != second.quartet:
        return "other"
    return "synonym" if first.side == second.side else "antonym"


def favourites(verb: str) -> list[str]:
    """What an action is mostly done to: the same for synonyms and for opposites."""
    entry = VERBS[verb]
    alike = [q for q, (one, _) in enumerate(QUARTETS) if one[0].takes == entry.takes]
    place = alike.index(entry.quartet)
    nouns = PEOPLE if entry.takes == "being" else THINGS
    kinds = [k for k, c in HYPONYM.items() if (c in ANIMALS) == (entry.takes == "being")]
    found = [word for unit in nouns[place :: len(alike)] for word in unit[:2]]
    return found + kinds[place :: len(alike)]


def home(person: str) -> tuple[str, ...]:
    """Both names of the place where a person is mostly found."""
    place = next(line[3] for line in PEOPLE if person in line[:2])
    return place, SYNONYM[place]
