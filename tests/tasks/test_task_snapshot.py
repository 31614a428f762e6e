"""The hub's files and the original layout, written from the same rows, give equal examples."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks import TASKS, prepare, task
from tasks.catalogue import ENTRIES, entry
from tasks.errors import InputError
from tasks.snapshot import Snapshot
from tasks.splits import Settings
from tests.tasks.hub_files import PIN, features, manifest, put, snapshot

# A quote that is never closed, separators that end no row, letters beyond ASCII, blanks at an end.
TEXTS = (
    '"An open quote',
    'he said "no',
    "a\u2028b\x85c\x0bd",
    "a\rb",
    "naïve Ωmega – “curly” 日本",
    " blanks around \xa0",
    "''twice''",
    "\\N",
    "NA",
    "#1",
)
GLUE = [each.name for each in ENTRIES if each.repo == "nyu-mll/glue"]
SPLITS = {"snli": ("train", "dev", "test"), "scitail": ("train", "dev", "test")}
Pair = tuple[str, str, int]


def pairs(name: str, split: str) -> list[Pair]:
    """Ten rows of two texts and a class; those of a split are no other's."""
    n = len(task(name).labels)
    own = "" if split == "train" else split
    texts = [text[:2] + own + text[2:] for text in TEXTS]
    return [(text, texts[-1 - k], k % n) for k, text in enumerate(texts)]


def tsv(path: Path, rows: list[list[str]], bom: bool, crlf: bool) -> None:
    """A table as published, some with a byte order mark or CRLF."""
    path.parent.mkdir(parents=True, exist_ok=True)
    end = "\r\n" if crlf else "\n"
    text = "".join("\t".join(row) + end for row in rows)
    path.write_bytes((("\ufeff" if bom else "") + text).encode())


def glue_word(name: str, k: int) -> str:
    """A label as GLUE's own files have it."""
    if name == "stsb":
        return ("0.000", "1.53333333333333", "2.600", "3.8", "4.444", "5.000")[k]
    return next((w for w, i in task(name).coding.items() if i == k), task(name).labels[k])


def glue_original(
    folder: Path, name: str, split: str, bom: bool = False, crlf: bool = False
) -> None:
    each, rows = task(name), []
    parse = each.parse
    header = list(parse.names) or ["index", *(c for c in parse.columns)]
    for k, (first, second, label) in enumerate(pairs(name, split)):
        cells = {parse.first: first, parse.label: glue_word(name, label)}
        cells |= {parse.second: second} if parse.second else {}
        rows.append([cells.get(column, str(k)) for column in header])
    tsv(folder / f"{split}.tsv", [*([] if parse.names else [header]), *rows], bom, crlf)


def glue_hub(name: str, split: str) -> list[list[dict]]:
    """The same rows in two files; `idx` goes on over both. MRPC's counts otherwise."""
    texts = [column for column in entry(name).columns if column not in ("label", "idx")]
    rows = [
        dict(zip(texts, (first, second), strict=False))
        | {"label": float(glue_word(name, label)) if name == "stsb" else label}
        | {"idx": 2 * k + 1 if name == "mrpc" else k}
        for k, (first, second, label) in enumerate(pairs(name, split))
    ]
    return [rows[:6], rows[6:]]


def json_original(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")


def write_snli(original: Path, hub: Path) -> None:
    words = ("entailment", "neutral", "contradiction")
    splits = {}
    for split in SPLITS["snli"]:
        # A tab and a line end are text in JSON; every fourth row has no gold label.
        rows = [*pairs("snli", split), ("tab\there", "line\nend", 2)]
        labels = [-1 if k % 4 == 3 else label for k, (_, _, label) in enumerate(rows)]
        texts = [{"sentence1": a, "sentence2": b} for a, b, _ in rows]
        gold = [{"gold_label": "-" if k < 0 else words[k]} for k in labels]
        lines = [text | word for text, word in zip(texts, gold, strict=True)]
        json_original(original / f"snli_1.0_{split}.jsonl", lines)
        hub_rows = [
            {"premise": a, "hypothesis": b, "label": k}
            for (a, b, _), k in zip(rows, labels, strict=True)
        ]
        splits[split] = [hub_rows[:5], hub_rows[5:]]
    snapshot(hub, "snli", splits)


def write_scitail(original: Path, hub: Path) -> None:
    splits = {}
    for split in SPLITS["scitail"]:
        words = ("neutral", "entails")
        rows = [[a, b, words[k]] for a, b, k in pairs("scitail", split)]
        tsv(original / "tsv_format" / f"scitail_1.0_{split}.tsv", rows, bom=False, crlf=True)
        splits[split] = [
            [
                {"sentence1": a, "sentence2": b, "gold_label": w.replace("entails", "entailment")}
                for a, b, w in rows
            ]
        ]
    snapshot(hub, "scitail", splits)


def write_race(original: Path, hub: Path) -> None:
    splits = {}
    for split in ("train", "dev", "test"):
        schools = {"middle": [], "high": []}
        for school, rows in schools.items():
            for number in (10, 9, 1):  # the hub's order is no one's
                asked = [f"{text} ?" for text in TEXTS[:3]]
                options = [[f"{TEXTS[j]} {k}" for j in range(4)] for k in range(3)]
                article = f"{TEXTS[number % 7]}\n\n{split} {school} {number}"
                answers = ["D", "A", "B"]
                record = {"article": article, "questions": asked, "options": options}
                record |= {"answers": answers, "id": f"{school}{number}.txt"}
                path = original / split / school / f"{number}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(record), encoding="utf-8")
                rows += [
                    {
                        **{"example_id": f"{school}{number}.txt", "article": article},
                        **{"question": asked[k], "options": options[k], "answer": answers[k]},
                    }
                    for k in range(3)
                ]
        splits[split] = [schools["middle"], schools["high"]]
    snapshot(hub, "race", splits)


def write_dprd(original: Path, hub: Path) -> None:
    splits = {}
    for split in ("train", "test"):
        rows, text = [], ""
        for k, word in enumerate(("naïve", '"odd', "a\u2028b", "plain")):
            candidates = [f"The {word} cat", "the dog"]
            sentence = f"{candidates[0]} saw {candidates[1]} because it was big {split} {k}."
            comma = ", " if k == 1 else ","
            text += f"{sentence}\r\nit\r\n{comma.join(candidates)}\r\n{candidates[k % 2]}\r\n\r\n"
            row = {"sentence": sentence, "pronoun": "it", "candidates": candidates}
            rows.append(row | {"label": k % 2})
        original.mkdir(exist_ok=True, parents=True)
        (original / f"{split}.c.txt").write_bytes(text.encode())
        splits[split] = [rows]
    snapshot(hub, "dprd", splits)


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Both layouts of a task from the same rows: (original, hub)."""
    original, hub = folder / "original", folder / "hub"
    if name in GLUE:
        splits = list(task(name).rows)
        for split in splits:
            glue_original(original, name, split, bom=name in ("mrpc", "rte"), crlf=split == "dev")
        snapshot(hub, name, {split: glue_hub(name, split) for split in splits})
    else:
        writers = {"snli": write_snli, "scitail": write_scitail, "race": write_race}
        (writers | {"dprd": write_dprd})[name](original, hub)
    return original, hub


def pin(name: str) -> str | None:
    return None if entry(name).revision else PIN


@pytest.mark.parametrize("name", [e.name for e in ENTRIES if e.repo])
def test_both_layouts_give_equal_examples(name, tmp_path):
    original, hub = write(name, tmp_path)
    for split in task(name).rows:
        dropped: list[Counter[str]] = [Counter(), Counter()]
        one = task(name).read(original, split, dropped[0])
        other = Snapshot(task(name), hub, pin(name)).read(split, dropped[1])
        assert one == other and len(one) >= 4
        assert dropped[0] == dropped[1]
        assert [type(e.label) for e in one] == [type(e.label) for e in other]


@pytest.mark.parametrize("name", ["cola", "snli", "race"])
def test_prepared_examples_are_equal_too(name, tmp_path):
    original, hub = write(name, tmp_path)
    subset = {split: 1 for split in task(name).rows}
    one, before = prepare.prepare(task(name), original, Settings(min_rows=subset))
    settings = Settings(source="hub", min_rows=subset)
    other, meta = prepare.prepare(task(name), hub, settings)
    assert one == other
    each = entry(name)
    assert meta["origin"] == {
        **{"source": "hub", "repo": each.repo, "revision": each.revision, "config": each.config}
    }
    assert before["origin"] == {"source": "folder"}
    listed = json.loads((hub / "manifest.json").read_text())["files"]
    digests = {name: d for files in meta["sources"].values() for name, d in files.items()}
    assert digests == {name: facts["sha256"] for name, facts in listed.items()}
    same = ("rows", "labels", "dropped", "overlap", "note", "train_from", "report")
    assert {key: before[key] for key in same} == {key: meta[key] for key in same}


def test_every_task_is_read_from_the_hub_or_says_how_to_obtain_it():
    assert {each.name for each in TASKS} - {e.name for e in ENTRIES if e.repo} == {"story_cloze"}
    with pytest.raises(InputError, match="story_cloze is not on the hub; fill in the form"):
        Snapshot(task("story_cloze"), "anywhere").read("val", Counter())


def test_rows_that_upstream_left_out_leave_a_gap_in_the_guids(tmp_path):
    """QQP: a line with too few columns is in neither layout, an empty question is dropped."""
    original, hub = write("qqp", tmp_path)
    path = original / "train.tsv"
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"2\tbroken"
    lines[5] = b"4\t\twhy\t1"
    path.write_bytes(b"\n".join(lines))
    first, second = glue_hub("qqp", "train")
    first[4] |= {"question1": "", "label": 1}
    del first[2]
    snapshot(hub, "qqp", {"train": [first, second]})
    dropped = [Counter(), Counter()]
    one = task("qqp").read(original, "train", dropped[0])
    other = Snapshot(task("qqp"), hub).read("train", dropped[1])
    assert one == other and len(one) == 8
    assert dropped == [{"wrong column count": 1, "empty text": 1}, {"empty text": 1}]


def refused(name: str, hub: Path, split: str, revision: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        Snapshot(task(name), hub, revision or pin(name)).read(split, Counter())
    message = str(caught.value)
    assert "\n" not in message and len(message) < 600
    return message


@pytest.mark.parametrize("name", ["mnli", "snli", "rte", "cola"])
def test_labels_in_another_order_are_refused(name, tmp_path):
    _, hub = write(name, tmp_path)
    names = list(entry(name).labels.values())
    split = next(s for s in entry(name).files if s.startswith("dev"))
    path = next(hub.glob(entry(name).files[split][0]))
    put(path, [], features(entry(name), names[1:] + names[:1]))
    manifest(hub, name)
    said = refused(name, hub, split)
    assert f"labels 0, 1, .. are named {', '.join(names[1:] + names[:1])}, expected" in said


def test_a_file_that_does_not_name_its_labels_is_refused(tmp_path):
    from pyarrow import parquet

    _, hub = write("mnli", tmp_path)
    path = next(hub.glob("mnli/train-*.parquet"))
    parquet.write_table(parquet.read_table(path).replace_schema_metadata(None), path)
    manifest(hub, "mnli")
    assert "are named nothing, expected entailment, neutral, contradiction" in refused(
        "mnli", hub, "train"
    )


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("qqp", "stsb", "expected, found sentence1, sentence2, label, idx (rte has these)"),
        ("stsb", "qqp", "expected, found question1, question2, label, idx (qqp has these)"),
        ("stsb", "rte", "'label' holds int64, a label of stsb is float"),
        ("rte", "stsb", "'label' holds float, a label of rte is int"),
        ("mrpc", "rte", "are named entailment, not_entailment, expected not_equivalent"),
    ],
)
def test_another_tasks_file_is_refused(one, other, said, tmp_path):
    _, hub = write(one, tmp_path / "one")
    _, wrong = write(other, tmp_path / "other")
    for path in hub.glob(f"{one}/validation-*.parquet"):
        path.write_bytes((wrong / other / path.name).read_bytes())
    manifest(hub, one)
    assert said in refused(one, hub, "dev")


def test_scitail_is_read_from_snli_format_alone(tmp_path):
    _, hub = write("scitail", tmp_path)
    (hub / "snli_format").rename(hub / "tsv_format")
    manifest(hub, "scitail")
    said = refused("scitail", hub, "train")
    assert "no file snli_format/train-*.parquet; tsv_format and dgem_format" in said
    assert "lost rows to quoting" in said
    (hub / "tsv_format").rename(hub / "snli_format")
    kinds = features(entry("snli"))
    put(hub / "snli_format/train-00000-of-00001.parquet", [], kinds)
    manifest(hub, "scitail")
    said = refused("scitail", hub, "train")
    assert "found premise, hypothesis, label" in said and "lost rows to quoting" in said


def test_an_answer_that_is_no_letter_of_race_and_a_hidden_label_are_refused(tmp_path):
    _, hub = write("race", tmp_path / "race")
    path = hub / "high/test-00000-of-00001.parquet"
    row = {"example_id": "high1.txt", "article": "a", "question": "q", "options": list("abcd")}
    put(path, [row | {"answer": "E"}], features(entry("race")))
    manifest(hub, "race")
    said = refused("race", hub, "test")
    assert f"{path}:1: label 'E' is unknown; race has A, B, C, D" in said
    _, hub = write("rte", tmp_path / "rte")
    path = hub / "rte/validation-00001-of-00002.parquet"
    hidden = {"sentence1": "a", "sentence2": "b", "label": -1, "idx": 6}
    put(path, [hidden], features(entry("rte")))
    manifest(hub, "rte")
    assert f"{path}:1: label '-1' is unknown" in refused("rte", hub, "dev")


def test_an_empty_or_missing_text_is_refused(tmp_path):
    for number, text in enumerate(("", "  ", None)):
        _, hub = write("rte", tmp_path / str(number))
        path = hub / "rte/validation-00001-of-00002.parquet"
        row = {"sentence1": "a", "sentence2": text, "label": 0, "idx": 6}
        put(path, [row], features(entry("rte")))
        manifest(hub, "rte")
        assert f"{path}:1: a text is" in refused("rte", hub, "dev")


def test_rows_glued_by_a_reader_with_quoting_are_found_in_the_hubs_files_too(tmp_path):
    _, hub = write("rte", tmp_path)
    path = hub / "rte/validation-00001-of-00002.parquet"
    row = {"sentence1": '"a\tb\t0\n7\tc', "sentence2": "d", "label": 0, "idx": 6}
    put(path, [row], features(entry("rte")))
    manifest(hub, "rte")
    settings = Settings(source="hub", min_rows={"train": 1, "dev": 1})
    with pytest.raises(InputError, match="glued rows together"):
        prepare.prepare(task("rte"), hub, settings)


def test_the_hubs_rows_must_have_the_official_number(tmp_path):
    _, hub = write("rte", tmp_path)
    with pytest.raises(InputError, match="10 rows in 'train', expected 2,490"):
        prepare.prepare(task("rte"), hub, Settings(source="hub"))


def test_files_that_are_not_those_of_the_manifest_are_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    path = hub / "rte/train-00001-of-00002.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert f"{path}: not as it was fetched" in refused("rte", hub, "train")
    manifest(hub, "rte")
    assert f"{path}: not a whole parquet file" in refused("rte", hub, "train")
    path.write_bytes(whole)
    manifest(hub, "rte")
    path.unlink()
    assert f"{path}: is not there" in refused("rte", hub, "train")
    path.write_bytes(whole)
    (hub / "rte/train-00002-of-00003.parquet").write_bytes(whole)
    assert "train-00002-of-00003.parquet: is not in manifest.json" in refused("rte", hub, "train")


def test_another_commit_or_repository_is_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    assert f"revision is {entry('rte').revision!r}, expected {PIN!r}" in refused(
        "rte", hub, "dev", PIN
    )
    manifest(hub, "rte", repo="someone/glue")
    assert "repo is 'someone/glue', expected 'nyu-mll/glue'" in refused("rte", hub, "dev")
    (hub / "manifest.json").unlink()
    assert "manifest.json: no such file; fetch RTE first" in refused("rte", hub, "dev")
    _, hub = write("dprd", tmp_path / "dprd")
    with pytest.raises(InputError, match="no commit of community-datasets"):
        Snapshot(task("dprd"), hub).read("test", Counter())


def test_a_folder_that_cannot_be_written_to_is_read(tmp_path):
    _, hub = write("cola", tmp_path)
    folders = [hub, *(p for p in hub.rglob("*") if p.is_dir())]
    before = sorted(hub.rglob("*"))
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert len(Snapshot(task("cola"), hub).read("dev", Counter())) == 10
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert sorted(hub.rglob("*")) == before
