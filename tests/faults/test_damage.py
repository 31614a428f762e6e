"""Damaged files are recognised by their checksums and named; what can be made again is."""

import random
import re
import shutil

import pytest
import torch

from gpt1.pretrain import Pretraining
from gpt1.records import RunRecord
from gpt1.text.tokens import open_tokens
from gpt1.training.cell_files import RunCache
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import load_checkpoint, read_facts, read_tensors, write_tensors
from tasks import task
from tasks.common.errors import InputError
from tasks.common.files import read_json, scratch_folder, write_atomic, write_json
from tests.gpt1 import toy
from tests.gpt1.test_pretrain import run
from tests.gpt1.toy import corpus, pretrain_settings

FLIPS = 200


def flipped(path, rng):
    """Flip a random bit of a file; returns what it held."""
    content = path.read_bytes()
    damaged = bytearray(content)
    damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(damaged)
    return content


def finished(key):
    """The record of a run."""
    losses = dict.fromkeys(("loss_start", "loss_end", "clf_loss_start", "clf_loss_end"), 0.5)
    counts = dict.fromkeys(("seed", "best_epoch", "best_update", "steps"), 1)
    return RunRecord(
        **{**losses, **counts, "scores": {"dev": {"f1": 81.25}}, "rows": {"dev": 2}, "cpu": ""},
        **{"train_tokens": 9, "train_rows": 2, "train_seconds": 0.1, "peak_mb": 9.5},
        **{"select_by_epoch": [], "label_entropy": 0.6, "predictions": {"dev": [1.0, 0.0]}},
        **{"probabilities": {}, "constant": False, "copied": [], "truncated": {}, "key": key},
    )


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_a_flipped_bit_in_the_tokens_is_refused(tmp_path, split):
    facts = corpus(tmp_path)
    flipped(tmp_path / f"{split}.bin", random.Random(0))
    with pytest.raises(InputError, match=rf"{split}\.bin: not what corpus\.json describes"):
        open_tokens(facts, split)
    with pytest.raises(InputError, match=rf"{split}\.bin"):
        Pretraining("lstm", facts, pretrain_settings("lstm"), Runtime(), tmp_path / "work")


def test_a_flipped_bit_in_saved_tensors_is_never_used(tmp_path):
    path, rng = tmp_path / "state.safetensors", random.Random(1)
    tensors = {"flat": torch.arange(50.0), "updates": torch.tensor([7])}
    write_tensors(path, tensors)
    faults = []
    for _ in range(FLIPS):
        content = flipped(path, rng)
        try:  # the name of the digest itself may be what is hit
            found = read_tensors(path)
            assert all(torch.equal(found[name], tensors[name]) for name in tensors)
        except InputError as error:
            faults.append(str(error))
        path.write_bytes(content)
    assert all(fault.startswith(f"{path}: ") for fault in faults) and len(faults) > 0.9 * FLIPS


def test_a_flipped_bit_in_a_record_of_a_run_is_never_used(tmp_path, capsys):
    cache, key = RunCache(tmp_path), {"seed": 1}
    record, rng = finished(key), random.Random(2)
    cache.put(record)
    for _ in range(FLIPS):
        content = flipped(cache.path(key), rng)
        assert cache.get(key) in (None, record)
        cache.path(key).write_bytes(content)
    assert cache.get(key) == record
    said = capsys.readouterr().out
    assert "damaged or edited, its checksum does not fit" in said and "training again" in said


def test_a_json_file_changed_by_a_digit_is_refused_and_one_without_checksum_is_read(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"score": 81.25, "lengths": {7: 1, 11: 2}, "names": ("é",)})
    assert read_json(path) == {"score": 81.25, "lengths": {"7": 1, "11": 2}, "names": ["é"]}
    path.write_text(path.read_text().replace("81.25", "91.25"))
    with pytest.raises(InputError, match=r"a\.json: damaged or edited.*delete it and rerun"):
        read_json(path)
    path.write_text('{"score": 91.25}')
    assert read_json(path) == {"score": 91.25}


@pytest.mark.parametrize(
    ("update", "then"),
    [
        (0, "starting again from update 0"),  # both states come after it
        (3, "resuming from update 3"),
        (8, "resuming from update 8"),
    ],
)
def test_a_damaged_checkpoint_of_the_work_folder_is_not_published_again(
    tmp_path, update, then, capsys
):
    out = run(tmp_path, "lstm")
    name = f"update-{update}.safetensors"
    content = (out / name).read_bytes()
    stored = next((tmp_path / "a" / "work").glob(f"*/{name}"))
    stored.write_bytes(content[: len(content) // 2])
    run(tmp_path, "lstm")
    assert (out / name).read_bytes() == content
    said = capsys.readouterr().out
    assert (f"{name}: not the file that update-{update}.json describes" in said) == (update < 8)
    assert any(line.endswith(then) for line in said.splitlines())


@pytest.mark.parametrize("name", ["update-0", "state"])
def test_what_lies_in_the_work_folder_of_another_run_is_not_gone_on_from(tmp_path, name, capsys):
    out = run(tmp_path, "lstm")
    whole = (out / "update-8.safetensors").read_bytes()
    run(tmp_path, "lstm", name="other", lr=0.02)
    (own,), (other,) = ([*(tmp_path / a / "work").iterdir()] for a in ("a", "other"))
    for path in other.glob(f"{name}.*"):
        shutil.copyfile(path, own / path.name)
    run(tmp_path, "lstm")
    assert (out / "update-8.safetensors").read_bytes() == whole
    said = capsys.readouterr().out
    assert re.search(rf"warning: .*/{name}.*of another run.*; (trying|starting)", said)


def test_a_checkpoint_under_another_name_is_refused(tmp_path, capsys):
    out = run(tmp_path, "lstm")
    for suffix in ("json", "safetensors"):
        shutil.copyfile(out / f"update-3.{suffix}", out / f"update-8.{suffix}")
    with pytest.raises(InputError, match="'update' is 3, its path says 8; make it again"):
        load_checkpoint(out / "update-8.safetensors", "lstm", toy.model("lstm"), "t" * 64)
    (work,) = (tmp_path / "a" / "work").iterdir()
    for suffix in ("json", "safetensors"):
        shutil.copyfile(work / f"update-3.{suffix}", work / f"update-0.{suffix}")
    run(tmp_path, "lstm")
    assert "'update' is 3, its path says 0" in capsys.readouterr().out
    assert read_facts(out / "update-8.safetensors").update == 8


def test_a_record_of_the_cache_is_of_the_key_that_its_name_says(tmp_path, capsys):
    cache, race, rte = RunCache(tmp_path), {"task": "race"}, {"task": "rte"}
    cache.put(finished(race))
    assert cache.get(race) == finished(race)
    cache.path(race).replace(cache.path(rte))
    assert cache.get(rte) is None and "of another run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[" * 100_000 + "]" * 100_000, "maximum recursion depth"),
        ("1" * 5_000, "Exceeds the limit"),
        ('"\\ud800"', "surrogates not allowed"),
    ],
)
def test_json_that_python_cannot_hold_is_told_with_its_place(tmp_path, value, reason):
    content = f'{{"article": {value}}}\n'
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=rf"a\.json: line 1: not JSON \(.*{reason}"):
        read_json(tmp_path / "a.json")
    rows = tmp_path / "snli_1.0_dev.jsonl"
    rows.write_text('{"gold_label": "neutral", "sentence1": "a", "sentence2": "b"}\n' + content)
    with pytest.raises(InputError, match=rf"snli_1\.0_dev\.jsonl:2: not JSON \(.*{reason}"):
        task("snli").read(tmp_path, "dev")


def test_what_a_killed_run_left_of_a_folder_is_swept(tmp_path):
    (tmp_path / ".out.tmp" / "new").mkdir(parents=True)
    with scratch_folder(tmp_path / "out") as scratch:
        assert not list(scratch.iterdir())
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_read_while_another_is_written_keeps_its_name(tmp_path):
    with pytest.raises(PermissionError), write_atomic(tmp_path / "a.txt"):
        raise PermissionError(13, "Permission denied", "/elsewhere/books/x.txt")


def test_damaged_weights_of_a_run_are_not_used(tmp_path, capsys):
    cache, key, other = RunCache(tmp_path), {"seed": 1}, {"seed": 2}
    for each in (key, other):
        cache.put(finished(each))
        assert cache.get(each) and not cache.get(each, with_weights=True)
    path = cache.weights(key)
    write_tensors(path, {"a": torch.arange(9.0)}, of=path.stem)
    assert cache.get(key, with_weights=True) and not capsys.readouterr().out
    shutil.copyfile(path, cache.weights(other))
    assert not cache.get(other, with_weights=True) and "another run" in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-4])
    assert not cache.get(key, with_weights=True) and "training again" in capsys.readouterr().out
    assert cache.get(key)
