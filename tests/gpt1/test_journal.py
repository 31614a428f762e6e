"""The journal finds a record by everything that decides it, and by nothing else."""

from gpt1.training.run_cache import Journal

KEY = {"arch": "lstm", "task": "rte", "aux": True, "n_transfer": -1, "seed": 0, "config": "a"}


def test_a_record_comes_back_under_its_key_and_under_no_other(tmp_path):
    journal = Journal(tmp_path)
    assert journal.get(KEY) is None
    journal.put(KEY, {"x": 1})
    assert journal.get(dict(reversed(KEY.items()))) == {"x": 1}
    for name, value in KEY.items():
        other = {**KEY, name: (not value) if isinstance(value, bool) else f"{value}!"}
        assert journal.get(other) is None, name


def test_a_damaged_record_is_told_and_not_taken(tmp_path, capsys):
    journal = Journal(tmp_path)
    journal.put(KEY, {"x": 1})
    path = journal.path(KEY)
    path.write_text(path.read_text()[:20])
    assert journal.get(KEY) is None
    assert "not JSON" in capsys.readouterr().out
