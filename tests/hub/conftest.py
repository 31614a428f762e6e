"""The stand-in hub, with every repository of a task or a corpus, for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.hub import repositories
from tests.hub.standin import Hub


@pytest.fixture(scope="session")
def one_hub(tmp_path_factory) -> Iterator[Hub]:
    hub = Hub(repositories.write(tmp_path_factory.mktemp("hub")))
    yield hub
    hub.close()


@pytest.fixture
def hub(one_hub: Hub) -> Hub:
    """The hub without faults, and without requests of earlier tests."""
    one_hub.heal()
    return one_hub
