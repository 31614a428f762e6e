"""Damaged files are recognised by their checksums and named; what can be made again is."""

import random

import pytest
import torch

from gpt1.text.tokens import open_tokens
from gpt1.training.pretraining import Pretraining
from gpt1.training.run_cache import RunCache
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import read_tensors, write_tensors
from tasks import task
from tasks.common.errors import InputError
from tasks.common.files import read_json, scratch_folder, write_atomic, write_json
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
    cache, key, record = RunCache(tmp_path), {"seed": 1}, {"scores": {"dev": 81.25}, "rows": [1, 2]}
    cache.put(key, record)
    rng = random.Random(2)
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
    cache, key = RunCache(tmp_path), {"seed": 1}
    assert not cache.has_weights(key)
    write_tensors(cache.weights(key), {"a": torch.arange(9.0)})
    assert cache.has_weights(key) and not capsys.readouterr().out
    content = cache.weights(key).read_bytes()
    cache.weights(key).write_bytes(content[:-4])
    assert not cache.has_weights(key) and "training again" in capsys.readouterr().out
