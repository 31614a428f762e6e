"""How many damaged files a test tries and how long, and where hypothesis keeps what it learns.

`make test` takes the profile `short`, always the same few; `make test-slow` takes `long`, new ones.
"""

import datetime

import hypothesis
import pytest

COMMON = {
    "database": None,
    "deadline": datetime.timedelta(seconds=60),  # for one file, on a busy machine
    "phases": [hypothesis.Phase.generate],  # a damaged file is small already
    "suppress_health_check": list(hypothesis.HealthCheck),
}
hypothesis.settings.register_profile("short", max_examples=15, derandomize=True, **COMMON)
hypothesis.settings.register_profile("long", max_examples=500, derandomize=False, **COMMON)
hypothesis.settings.load_profile("short")  # --hypothesis-profile=long is read later


@pytest.fixture(autouse=True, scope="session")
def _no_trace_in_the_repository(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path_factory.mktemp("hypothesis")))
        yield
