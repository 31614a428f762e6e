"""Nothing that is made from a finished run changes by a byte unless its digest is changed, too."""

import json

from tests.golden import DIGESTS, build


def test_every_table_figure_study_and_page_of_a_finished_run_is_as_it_was(tmp_path):
    known, found = json.loads(DIGESTS.read_text(encoding="utf-8")), build(tmp_path)
    differ = sorted(name for name in {*known, *found} if known.get(name) != found.get(name))
    assert differ == [], "python -m tests.golden writes their new digests"
    assert len(known) > 50
