"""Write the synthetic world: books, the twelve tasks and DPRD, in their original file layouts.

    python -m tasks world --settings '{"seed": 7}' --out results/world

The settings are those of `tasks.world.settings.WorldSettings`; all have defaults. Writes
`books/*.txt`, one folder per task and, last, `manifest.json`: the settings, the size and SHA-256 of
every file, the rows of every split. Files of an earlier world in the same folder are removed first.

Each book is named after one kind of discourse and contains some of every other. Together they teach
what the tasks ask for. Any 13 consecutive words of the rows that are not for training are kept out,
and so are their texts, except short ones (`forbidden_texts`).
"""

import argparse
import itertools
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.common.files import (
    MANIFEST,
    described,
    read_manifest,
    refuse_others,
    scratch_folder,
    write_json,
    writing,
)
from tasks.world import feelings, remarks
from tasks.world.draw import NUMBERS, ClozeItem, Draw
from tasks.world.settings import Discourse, WorldSettings, WorldTaskName
from tasks.world.tasks import WORLD_TASKS, Splits, make_splits

DEGREES_FILE = "degrees.csv"  # moved first, so that a killed program leaves its mark
CLOZE_FILE = "Cloze/items.jsonl"
CLAIM_WORDS = 4  # texts of at most so many words may occur in the books
ASKED = re.compile(f"^who ({'|'.join(feelings.KNEW)}) that ")  # before a claim of QQP
NGRAM = 13  # the length of the contamination table's n-grams
LINK = re.compile(r"^(but|for|though|whereas|while|yet) ")
SENTENCE_END, CLAUSE_END = re.compile(r"[.!?:\n]"), re.compile(r"[.!?:\n,]")
WORD = re.compile(r"\w+|[^\w\s]")
# For each kind of discourse, the title of its books and the maker of its paragraphs.
KINDS: dict[Discourse, tuple[str, Callable[[Draw], str]]] = {
    "remarks": ("Diary", remarks.remarks),
    "stories": ("Tales", feelings.stories),
    "deeds": ("Chronicle", feelings.deeds),
    "kinds": ("Nature", remarks.kinds),
    "questions": ("Reader", feelings.questions),
    "reasons": ("Characters", remarks.reasons),
    "forms": ("Pictures", remarks.forms),
}
# For every skill that the books teach, the maker of its cloze items.
SKILLS: dict[str, Callable[[Draw], ClozeItem]] = {
    "agreement": remarks.cloze_agreement,
    "reflexive": remarks.cloze_reflexive,
    "opinion": partial(remarks.cloze_opinion, degree="lexical"),
    "conceded opinion": partial(remarks.cloze_opinion, degree="relational"),
    "denied opinion": partial(remarks.cloze_opinion, degree="compositional"),
    "ending": partial(feelings.cloze_ending, degree="lexical"),
    "ending of two": partial(feelings.cloze_ending, degree="relational"),
    "ending and liking": partial(feelings.cloze_ending, degree="compositional"),
    "energy": partial(feelings.cloze_energy, degree="lexical"),
    "energy of two": partial(feelings.cloze_energy, degree="relational"),
    "seldom": partial(feelings.cloze_energy, degree="compositional"),
    "surprise": feelings.cloze_surprise,
    "category": remarks.cloze_category,
    "ability": partial(remarks.cloze_ability, degree="lexical"),
    "pronoun": remarks.cloze_pronoun,
}


def make_world(settings: WorldSettings, out: Path) -> dict[str, Any]:
    """Write the whole world to `out` and return its manifest. Never leaves partial output.

    Raises InputError for a folder of other files than those of an earlier world.
    """
    refuse_others(out, DEGREES_FILE)
    files: dict[str, str] = {}
    rows: dict[str, dict[str, int]] = {}
    of_rows = ["task,split,row,degree\n"]
    forbidden: set[str] = set()
    for name, task in WORLD_TASKS.items():
        splits = make_splits(settings, name)
        rows[name] = {split: len(part) for split, part in splits.items()}
        files |= task.write(splits)
        for split, part in splits.items():
            of_rows += [f"{name},{split},{i},{row.degree}\n" for i, row in enumerate(part)]
        forbidden |= forbidden_texts(name, splits)
    files[CLOZE_FILE] = write_cloze(settings)
    files[DEGREES_FILE] = "".join(of_rows)
    for number in range(settings.books):
        files[f"books/book{number:03d}.txt"] = write_book(settings, number, forbidden)
    tops = sorted({path.partition("/")[0] for path in files}, key=lambda top: top != DEGREES_FILE)
    listed = read_manifest(out, "give another folder")["files"] if (out / MANIFEST).exists() else {}
    shapes = {re.sub(r"\d+", "0", path) for path in files}  # of a world of another size
    for file in (file for top in tops for file in (out / top).rglob("*") if file.is_file()):
        there = file.relative_to(out).as_posix()
        if there not in listed if listed else re.sub(r"\d+", "0", there) not in shapes:
            raise InputError(f"{file}: not of the earlier world; move it elsewhere")
    (out / MANIFEST).unlink(missing_ok=True)
    with scratch_folder(out / "files") as scratch:  # in one go: RACE alone has thousands
        for path, text in files.items():
            with writing(scratch / path):
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / path).write_text(text, encoding="utf-8", newline="\n")
        for top in tops:
            shutil.rmtree(out / top, ignore_errors=True)
            (scratch / top).replace(out / top)
    manifest = {"settings": settings.model_dump(), "rows": rows, "files": described(out, files)}
    write_json(out / MANIFEST, manifest)
    return manifest


def write_book(settings: WorldSettings, number: int, forbidden: set[str]) -> str:
    """A book of its share of the words, in chapters, with none of the `forbidden` fingerprints."""
    draw = Draw(settings.seed, f"book/{number}", degrees=settings.book_degrees.shares())
    length, shares = max(50, settings.words // settings.books), settings.shares()
    used = [kind for kind, share in shares.items() if share]
    title, _ = KINDS[used[number % len(used)]]
    place, author = draw.word("place").title(), draw.word("name")
    blocks = [f"{title} of the {place}", f"by {author}"]
    count, chapter, next_chapter = 6, 0, 0
    written = dict.fromkeys(used, 0.0)
    while count < length:
        if count >= next_chapter:
            chapter, next_chapter = chapter + 1, count + max(400, length // 11)
            blocks.append(f"Chapter {NUMBERS[(chapter - 1) % len(NUMBERS)]}")
        # The kind furthest behind its share of words, whatever the length of its paragraphs.
        kind = min(used, key=lambda k: (written[k] + draw.random() * 60) / shares[k])
        _, paragraph = KINDS[kind]
        text = paragraph(draw)
        # 13 consecutive words may span more than one paragraph.
        if not forbidden.isdisjoint(fingerprints(text, "\n".join(blocks[-2:]))):
            continue
        blocks.append(text)
        written[kind] += len(text.split())
        count += len(text.split())
    return "\n\n".join(blocks) + "\n"


def forbidden_texts(name: WorldTaskName, splits: Splits) -> set[str]:
    """The parts of a task's rows that no book may contain, in the form of `fingerprints`.

    They are both texts of a row, and any 13 consecutive words of both texts followed by each
    choice; for DPRD the sentence with either candidate in place of the pronoun. Claims of a few
    words, such as "It can bend.", are allowed: without them books could not say what rows ask for.
    So are the texts of training rows, as large sets use up most short sentences, but not in the
    form in which a prompt asks for their labels.
    """
    found: set[str] = set()
    task = WORLD_TASKS[name]
    for split, row in ((split, row) for split, rows in splits.items() for row in rows):
        choices = row.choices or ("",)
        found |= {
            normalise(prompt.format(first=row.first, second=row.second, choice=choice))
            for prompt in task.prompts
            for choice in choices
        }
        if task.splits[split] == 1.0:
            continue
        if name == "dprd":
            before, after = row.first.split(f" because {row.second} ")
            found |= {normalise(f"{before} because {who} {after}") for who in choices}
            continue
        for choice in choices:
            found |= ngrams(f"{row.first} {row.second} {choice}")
        if not row.choices:
            texts = normalise(row.first), normalise(row.second)
            found.add(" ".join(texts).strip())
            found |= {text for text in texts if len(ASKED.sub("", text).split()) > CLAIM_WORDS}
    return found


def normalise(text: str) -> str:
    """A text in lower case without punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def fingerprints(text: str, before: str = "") -> set[str]:
    """The parts of a text that a book may not share with a reported row.

    They are its sentences, each two consecutive sentences, the clauses without their linking words,
    its opening runs of sentences of any length, and its `ngrams`.
    """
    sentences = [part for part in map(normalise, SENTENCE_END.split(text)) if part]
    clauses = {LINK.sub("", part) for part in map(normalise, CLAUSE_END.split(text))} - {""}
    runs = {*itertools.accumulate(sentences, "{} {}".format)}
    pairs = {*map(" ".join, itertools.pairwise(sentences))}
    return {*sentences} | clauses | runs | pairs | ngrams(text, before)


def ngrams(text: str, before: str = "") -> set[str]:
    """Any 13 consecutive words that end in a text, and may begin in the text `before` it.

    A punctuation mark is one word and "cannot" two, as in the contamination table.
    """
    earlier, words = (WORD.findall(t.lower().replace("cannot", "can not")) for t in (before, text))
    whole = [*earlier[1 - NGRAM :], *words]
    return {" ".join(whole[i : i + NGRAM]) for i in range(len(whole) - NGRAM + 1)}


def write_cloze(settings: WorldSettings) -> str:
    """JSON lines with skill, context, choices and label, `settings.cloze` for each skill.

    The places of the right choices are evenly distributed.
    """
    draw, lines = Draw(settings.seed, "cloze"), []
    for skill, make in SKILLS.items():
        for place in draw.sample(range(settings.cloze), settings.cloze):
            context, (answer, *choices) = make(draw)
            label = place % (1 + len(choices))
            choices.insert(label, answer)
            line = {"skill": skill, "context": context, "choices": choices, "label": label}
            lines.append(json.dumps(line) + "\n")
    return "".join(lines)


def main() -> None:
    """Command line, see the module's docstring."""
    parser = argparse.ArgumentParser(description="Write the synthetic world's books and tasks.")
    parser.add_argument(
        "--settings", type=WorldSettings.parse, default="{}", help="JSON of WorldSettings"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    args = parser.parse_args()
    manifest = make_world(args.settings, args.out)
    n = sum(sum(splits.values()) for splits in manifest["rows"].values())
    print(f"world: {args.settings.books} books, {n} rows of {len(WORLD_TASKS)} tasks")
