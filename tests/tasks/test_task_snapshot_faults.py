"""A snapshot that is not as fetched, not this task's or coded otherwise is refused in one line."""

from pathlib import Path

import pytest

from tasks import task
from tasks.common.errors import InputError
from tasks.hub import Snapshot
from tests.support.programs import refusal
from tests.tasks.both_layouts import pin, write
from tests.tasks.hub_files import PIN, features, manifest, put


def refused(name: str, hub: Path, split: str, revision: str | None = None) -> str:
    return refusal(task(name).read, Snapshot(task(name).hub, hub, revision or pin(name)), split)


@pytest.mark.parametrize("name", ["mnli", "snli", "rte", "cola"])
def test_labels_in_another_order_are_refused(name, tmp_path):
    _, hub = write(name, tmp_path)
    names = list(task(name).hub.labels.values())
    split = next(s for s in task(name).hub.files if s.startswith("dev"))
    path = next(hub.glob(task(name).hub.files[split][0]))
    put(path, [], features(task(name).hub, names[1:] + names[:1]))
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
        ("qqp", "stsb", "found sentence1, sentence2, label, idx; delete the folder"),
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
    kinds = features(task("snli").hub)
    put(hub / "snli_format/train-00000-of-00001.parquet", [], kinds)
    manifest(hub, "scitail")
    said = refused("scitail", hub, "train")
    assert "found premise, hypothesis, label" in said and "lost rows to quoting" in said


def test_an_empty_or_missing_text_is_refused(tmp_path):
    for number, text in enumerate(("", "  ", None)):
        _, hub = write("rte", tmp_path / str(number))
        path = hub / "rte/validation-00001-of-00002.parquet"
        row = {"sentence1": "a", "sentence2": text, "label": 0, "idx": 6}
        put(path, [row], features(task("rte").hub))
        manifest(hub, "rte")
        kind = "null" if text is None else "empty"
        assert f"{path}:1: {kind} text; remove the row" in refused("rte", hub, "dev")


def test_files_that_are_not_those_of_the_manifest_are_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    path = hub / "rte/train-00001-of-00002.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert f"{path}: not the file that manifest.json describes" in refused("rte", hub, "train")
    manifest(hub, "rte")
    assert f"{path}: truncated or corrupt parquet file" in refused("rte", hub, "train")
    path.write_bytes(whole)
    manifest(hub, "rte")
    path.unlink()
    assert f"{path}: no such file" in refused("rte", hub, "train")


def test_another_commit_or_repository_is_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    assert f"revision is {task('rte').hub.revision!r}, expected {PIN!r}" in refused(
        "rte", hub, "dev", PIN
    )
    manifest(hub, "rte", repo="someone/glue")
    assert "repo is 'someone/glue', expected 'nyu-mll/glue'" in refused("rte", hub, "dev")
    (hub / "manifest.json").unlink()
    assert "no manifest.json; fetch rte first" in refused("rte", hub, "dev")
    _, hub = write("dprd", tmp_path / "dprd")
    with pytest.raises(InputError, match="no commit of community-datasets"):
        task("dprd").read(Snapshot(task("dprd").hub, hub), "test")
