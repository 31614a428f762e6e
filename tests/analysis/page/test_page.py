"""The page of a run: well-formed, by itself, and what it says where something is lacking."""

import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from tests.analysis.conftest import PROCESSOR, make_grid, write_all, write_answers, write_tables
from workflow.analysis import figures, report
from workflow.analysis.page.run import from_markdown
from workflow.analysis.page.write import html
from workflow.analysis.report import make
from workflow.analysis.table import Table
from workflow.grid import Grid, PagePlan, StudyHead

TABLES = ["main", "ablation", "layer_transfer", "zero_shot", "claims", "positive_control"]
TABLES += ["pretraining", "cloze"]
FIGURES = ["figure2", "ablation", "layer_transfer", "zero_shot", "cloze"]
FIGURES += ["differences"]
HOSTILE = '</code><script>alert("x")</script>'
CONFIG = f"results: run\nexperiment:\n  tasks:\n    rte: {{folder: '{HOSTILE}'}}\n"
DECAY = StudyHead(
    name="decay", heading="Weight decay", question="The authors' decay against AdamW's."
)
LM_COEF = StudyHead(name="lm_coef", heading="The weight", question="What does its weight do?")
STUDIES = [DECAY, LM_COEF]
CELL = re.compile(r"<t[hd](?: [^>]*)?>(.*?)</t[hd]>", re.DOTALL)
VOID = {"meta", "link", "input", "br", "hr", "img"}


@pytest.fixture(scope="module")
def grid() -> Grid:
    layers = {"transformer": ["none", 0, 6, 12], "lstm": ["none", 0, 1]}
    names = ("rte", "sst2", "mnli")
    made = {"scale": "the synthetic world", "synthetic": [*names, "dprd"]}
    return make_grid(*names, layers=layers, controls=("shuffled",), **made)


@pytest.fixture(scope="module")
def results(tmp_path_factory, grid) -> Path:
    """A run with its tables and figures."""
    results = tmp_path_factory.mktemp("page") / "run"
    write_all(results, grid)
    write_answers(results, grid)
    write_tables(results, grid, TABLES)
    first, *others = FIGURES
    (results / "figures").mkdir()
    make(f"figures/{first}.png", results, grid)
    for name, form in itertools.product(others, ("png", "svg", "pdf")):  # any picture will do
        shutil.copy(results / f"figures/{first}.{form}", results / f"figures/{name}.{form}")
    return results


def page_of(
    results: Path,
    grid: Grid,
    tables: list[str],
    figures: list[str],
    studies: Sequence[StudyHead] = (),
) -> str:
    page = PagePlan(tables=["cells", *tables], figures=figures, studies=list(studies))
    return html(results, grid, page)


@pytest.fixture(scope="module")
def page(results, grid, tmp_path_factory) -> str:
    config = tmp_path_factory.mktemp("out") / "config"
    config.write_text(CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUN_CONFIG", str(config))
        patch.setenv("RUN_OPTIONS", "--configfile my.yaml")
        return page_of(results, grid, TABLES, FIGURES)


class Elements(HTMLParser):
    """The elements of a page in their order: (tag, attributes, text inside); checks the nesting."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[int] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.found.append((tag, dict(attrs), []))
        if tag not in VOID:
            self.open.append(len(self.found) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.found[self.open.pop()][0] == tag, f"{tag} closes another element"

    def handle_data(self, data: str) -> None:
        for i in self.open:
            self.found[i][2].append(data)

    def of(self, *tags: str) -> list[tuple[str, dict[str, str | None], str]]:
        return [(t, a, " ".join("".join(d).split())) for t, a, d in self.found if t in tags]


def test_the_page_is_well_formed_and_every_reference_leads_somewhere(page):
    elements = Elements(page)
    attributes = [attrs for _, attrs, _ in elements.found]
    ids = Counter(attrs["id"] for attrs in attributes if "id" in attrs)
    assert len(ids) > 20 and set(ids.values()) == {1}
    links = {a["href"] for a in attributes if a.get("href", "").startswith("#")}
    assert links and {link[1:] for link in links} <= set(ids)
    articles = {a["id"] for tag, a, _ in elements.found if tag == "article"}
    assert {f"#{name}" for name in articles - {"again", "environment", "config"}} <= links


def test_the_page_asks_for_nothing_outside_of_itself(page):
    elements = Elements(page)
    asked = [(tag, a[k]) for tag, a, _ in elements.found for k in ("src", "href") if k in a]
    sources = [source for tag, source in asked if tag != "a"]
    assert sources and all(source.startswith("data:") for source in sources)
    assert "://" not in page and "@import" not in page
    policy = next(a["content"] for _, a, _ in elements.found if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ") and "http" not in policy


def test_headings_go_down_one_level_at_a_time_and_tables_are_labelled(page):
    elements = Elements(page)
    levels = [int(tag[1]) for tag, _, _ in elements.of("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    boxes = page.split("<table>")
    assert len(boxes) > 12
    for before, after in itertools.pairwise(boxes):
        assert re.search(r'role="region" aria-label="[^"]{4,}" tabindex="0">$', before)
        head, _, body = after.partition("</table>")[0].partition("</thead>")
        assert head.count("<th ") == head.count('scope="col"') > 1
        assert body.count("<tr") == body.count('scope="row"') > 0
    described = [attrs["alt"] for _, attrs, _ in elements.of("img")]
    assert len(described) == len(FIGURES) and min(map(len, described)) > 80


@pytest.mark.parametrize("fails", [True, False])
def test_the_positive_control_is_folded_where_every_check_holds(results, grid, tmp_path, fails):
    shutil.copytree(results, tmp_path / "run")
    control = pd.read_csv(results / "positive_control.csv")
    control["met"] = ["no" if fails else "yes", *["yes"] * (len(control) - 1)]
    control.to_csv(tmp_path / "run" / "positive_control.csv", index=False)
    page = page_of(tmp_path / "run", grid, TABLES, [])
    article = page.partition('<article id="table-positive_control">')[2].partition("</article>")[0]
    assert ("<details>" in article) != fails and ("every check holds" in article) != fails


def test_a_run_that_learned_nothing_says_so_before_any_number(results, grid, tmp_path):
    cells = pd.read_csv(results / "cells.csv")
    shutil.copytree(results, tmp_path / "run")
    for alarms in ("constant_prediction", None):
        cells.assign(alarms=alarms).to_csv(tmp_path / "run" / "cells.csv", index=False)
        page = page_of(tmp_path / "run", grid, TABLES, [])
        assert ("learned nothing" in page.partition("points on average")[0]) == bool(alarms)


def test_each_table_and_figure_has_the_command_that_makes_it(page, results):
    commands = [text for _, _, text in Elements(page).of("code")]
    for name in [f"{table}.csv" for table in TABLES] + [f"figures/{f}.png" for f in FIGURES]:
        assert f"snakemake --cores all {results}/{name} --configfile my.yaml" in commands


def test_what_is_not_made_yet_is_told_with_its_command(page, results, grid, tmp_path):
    nothing = page_of(tmp_path / "none", grid, ["main"], ["ablation"])
    gaps = [text for _, attrs, text in Elements(nothing).of("p") if attrs.get("class") == "gap"]
    for target in ("main.csv", "cells.csv", "figures/ablation.png"):
        made = f"snakemake --cores all {tmp_path}/none/{target}"
        assert f"Not made yet. This makes it: {made}" in gaps
    assert "Not part of this run: The positive control." in gaps


def test_a_table_without_a_place_on_the_page_stands_at_its_end(results, grid, tmp_path):
    for end in ("csv", "md"):
        shutil.copy(results / f"pretraining.{end}", results / f"novel_table.{end}")
    page = page_of(results, grid, ["novel_table"], [])
    assert '<section id="further">' in page and "<h3>Novel table" in page


def studies_of(results: Path, grid: Grid) -> dict[str, str]:
    """The studies on the page, by name."""
    page = page_of(results, grid, TABLES, [], STUDIES)
    section = page.partition('<section id="studies">')[2].partition("</section>")[0]
    return dict(re.findall(r'<article id="study-(\w+)">(.*?)</article>', section, re.DOTALL))


def test_a_study_has_its_question_and_command_or_its_table_and_figure(results, grid, tmp_path):
    shown = studies_of(results, grid)
    assert [*shown] == ["decay", "lm_coef"]
    text = " ".join(unescape(re.sub(r"<[^>]+>", "", shown["decay"])).split())
    command = f"snakemake --cores all {results}/studies/decay.csv"
    assert text == (
        f"Weight decay # The authors' decay against AdamW's. Not made yet. This makes it: {command}"
    )
    run = tmp_path / "run"
    shutil.copytree(results, run)
    (run / "studies").mkdir()
    for name in ("lm_coef", "of_old"):  # one of the run, and one that no config has any more
        frame = pd.DataFrame({"a": ["x"], "b": ["1.5"]}).set_index("a")
        Table(frame, ["# Heading", frame]).write(run / "studies" / f"{name}.csv")
        shutil.copy(run / "figures" / "ablation.svg", run / "studies" / f"{name}.svg")
    shown = studies_of(run, grid)
    assert [*shown] == ["lm_coef", "decay"]  # what was run comes first
    assert re.findall(r'alt="([^"]*)"', shown["lm_coef"]) == ["What does its weight do?"]


def test_text_from_outside_is_escaped(page):
    assert "<script>alert" not in page and "&lt;/code&gt;&lt;script&gt;alert" in page
    assert [text for _, _, text in Elements(page).of("pre")] == [" ".join(CONFIG.split())]
    text = "| a | b |\n|:--|--:|\n| <b>x</b> | &lt;i> |\n\n[x](javascript:alert) <script>\n"
    shown = from_markdown(text, '"><script>')
    assert ">&lt;b&gt;x&lt;/b&gt;</th>" in shown and ">&lt;i&gt;</td>" in shown
    assert "<script" not in shown and "href" not in shown
    assert "<img" not in from_markdown("![x](https://example.org/x.png)", "")


def test_the_environment_is_that_of_the_cells(results, grid, tmp_path):
    cells = grid.cells()
    assert len(cells) > 4
    for i, cell in enumerate(cells):
        path = cell.path(results)
        record = json.loads(path.read_text())
        versions = {"python": "3.11.7", "torch": "2.9.0" if i < 2 else "2.13.0"}
        precision = "bfloat16" if i < 2 else "float32"
        runtime = {"device": "cpu", "precision": precision, "micro_batch": None, "compile": False}
        record |= {"versions": versions, "runtime": runtime}
        path.write_text(json.dumps(record))
    page = page_of(results, grid, [], [])
    shown = page.partition('<article id="environment">')[2].partition("</article>")[0]
    rows = shown.partition("<tbody>")[2].partition("</tbody>")[0]
    lines = [re.findall(CELL, row) for row in rows.split("</tr>")[:-1]]
    same = ["null", "false", PROCESSOR, "3.11.7"]
    assert lines == [
        ["2", "cpu", "bfloat16", *same, "2.9.0"],
        [f"{len(cells) - 2}", "cpu", "float32", *same, "2.13.0"],
    ]
    assert "Cells differ in precision, torch; " in shown
    assert all(f"<code>{cells[i].name}</code>" in shown for i in (0, 2))


def test_a_page_says_of_which_data_and_seeds_it_is(page, grid, results, tmp_path):
    note = "scores are no evidence about English"
    seeds = f"tasks: {grid.titles}; seeds: 2 of pre-training, 3 of fine-tuning"
    assert "The rows of every task are made" in page and note in " ".join(page.split())
    assert f"the synthetic world; {seeds}" in " ".join(page.split())
    some = grid.model_copy(update={"scale": "data sets of the hub", "synthetic": ["mnli", "sst2"]})
    mixed = page_of(results, some, ["main"], [])
    assert "The rows of SST-2, MNLI are made by the synthetic world" in mixed
    assert note in " ".join(mixed.split())
    real = make_grid("rte", "sst2", "mnli", scale="12 layers of 768 units")
    other = " ".join(page_of(results, real, ["main"], []).split())
    assert note not in other and f"12 layers of 768 units; {seeds}" in other


def test_every_table_and_figure_of_the_suite_has_its_place(grid, tmp_path):
    every = [*[*report.TABLES], *[*figures.TABLES]]
    page = page_of(tmp_path / "none", grid, [*report.TABLES], [*figures.TABLES])
    assert page.count('<p class="gap">Not made yet') == len(every) + 1  # alarms
    assert 'id="further"' not in page
