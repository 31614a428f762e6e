"""The run cache finds a record by everything that decides it, and by nothing else."""

from gpt1.training.run_cache import RunCache
from tasks.common.files import this_machine

KEY = {"arch": "lstm", "task": "rte", "aux": "on", "n_transfer": "none", "seed": 0, "config": "a"}


def test_a_record_is_found_by_its_key_and_by_no_other(tmp_path):
    cache = RunCache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(KEY, {"x": 1})
    assert cache.get(dict(reversed(KEY.items()))) == {"x": 1}
    for name, value in KEY.items():
        assert cache.get({**KEY, name: f"{value}!"}) is None, name


def test_what_a_killed_write_of_any_record_left_is_swept(tmp_path):
    RunCache(tmp_path).put(KEY, {"x": 1})
    left = tmp_path / f".{'0' * 64}.json.{this_machine()}-99999999"
    left.write_text("{")
    assert RunCache(tmp_path).get(KEY) == {"x": 1} and not left.exists()
