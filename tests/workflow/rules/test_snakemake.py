"""What the rules ask of Snakemake's `workflow`, which its documentation does not promise."""

import re
from importlib.metadata import version

from tests.workflow.configs import ROOT
from tests.workflow.running import snakemake

SEEN_WITH = "9.27.1"  # a later version: read what became of each attribute, then change this
LOOKS = """
from operator import attrgetter

def look():
    for name in {names}:
        try:
            attrgetter(name)(workflow)
            print("there:", name)
        except (AttributeError, AssertionError):
            pass

look()  # while the rules are read
rule one:
    output: touch("one")

onstart:
    look()
"""


def test_every_attribute_is_there_in_the_version_that_it_was_seen_with(tmp_path):
    assert version("snakemake") == SEEN_WITH
    files = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow/Snakefile"]
    text = "".join(re.sub(r"#.*|from .*", "", path.read_text(encoding="utf-8")) for path in files)
    own = {path.stem for path in (ROOT / "workflow").iterdir()}
    found = {*re.findall(r"(?<![\w/])workflow\.([a-z_.]*[a-z])", text)}
    names = sorted(name for name in found if name.partition(".")[0] not in own)
    assert "modifier.skip_configfile" in names
    (tmp_path / "Snakefile").write_text(LOOKS.format(names=names))
    said = snakemake(tmp_path)
    assert sorted({*re.findall(r"there: (\S+)", said)}) == names
