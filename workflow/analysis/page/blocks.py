"""The Markdown of tables, captions and data cards as blocks that the page's template shows.

The suite writes each table for reading as Markdown, so the page needs no layout of its own: it
takes the tables as they are, finds their columns of numbers, and gives their words a look.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from markupsafe import Markup

from workflow.analysis.markdown import MISSING, NONE

NUMBER = re.compile(
    r"[<+−-]? ?\d[\d.,]*(?: ?%)?(?: ?/ ?\d[\d.]*(?: ?%)?)?"  # 1.2, 1,234, 5 %, 6/6, 1 % / 2 %
    r"(?: ± \S+)?(?: \[[^]]*\])?(?: \([^)]*\))?(?: of \d+)?"  # spread, interval, another number
)
SPREAD = re.compile(r" ± [\d.]+|\[[^\]]*\]|\([^)]*\)")  # less important than the number before it
HEAD = re.compile(r"(.*\S) \(([^()]*)\)")
DIGEST = re.compile(r"^<!-- .* -->$", re.MULTILINE)
VERDICTS = ("met", "verdict")  # columns that come second, so that a narrow screen shows them
TONES = {  # how the words of a verdict look
    **{"reproduced": "good", "yes": "good", "not reproduced": "bad", "no": "bad"},
    **{"undecided": "open", "not run": "none", MISSING: "none"},
}


@dataclass(frozen=True)
class Prose:
    """Paragraphs and lists."""

    html: Markup
    kind: ClassVar = "prose"


@dataclass(frozen=True)
class Heading:
    """A heading below that of the table."""

    text: str
    kind: ClassVar = "heading"


@dataclass(frozen=True)
class Picture:
    """A picture by its path, which ends in `.png`; the SVG lies beside it."""

    path: str
    title: str
    kind: ClassVar = "picture"


@dataclass(frozen=True)
class Column:
    """A column's head, what it says in brackets, and whether it is one of numbers."""

    name: str
    detail: str
    is_number: bool


@dataclass(frozen=True)
class Cell:
    """A cell's content; `tone` is one of TONES or empty, `alarm` the mark of a score in doubt."""

    html: Markup
    tone: str
    alarm: bool


@dataclass(frozen=True)
class Row:
    """A line of a table; the paper's own numbers are written in italics."""

    cells: list[Cell]
    is_paper: bool


@dataclass(frozen=True)
class DataTable:
    """A table with the heading that it stands under."""

    caption: str
    columns: list[Column]
    rows: list[Row]
    kind: ClassVar = "table"


Block = Prose | Heading | Picture | DataTable


def parse(text: str, title: str) -> Iterator[Block]:
    """The blocks of a Markdown text. A table is called by the heading before it, or by `title`.

    The heading of the whole text is left out, as is the digest of the CSV.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    nodes = SyntaxTreeNode(markdown.parse(DIGEST.sub("", text))).children
    caption = title
    for node, following in zip(nodes, [*nodes, None][1:], strict=True):
        inline = node.children[0] if node.type in ("heading", "paragraph") else None
        if node.type == "heading" and inline is not None:
            caption = title if node.tag == "h1" else inline.content
            if node.tag != "h1" and (following is None or following.type != "table"):
                yield Heading(caption)
        elif node.type == "table":
            yield _table(markdown, node, caption)
            caption = title
        elif inline is not None and [child.type for child in inline.children] == ["image"]:
            image = inline.children[0]
            yield Picture(str(image.attrs["src"]), image.content)
        else:
            yield Prose(Markup(markdown.renderer.render(node.to_tokens(), markdown.options, {})))


def _table(markdown: MarkdownIt, node: SyntaxTreeNode, caption: str) -> DataTable:
    head, *lines = [
        [cell.children[0].content if cell.children else "" for cell in line.children]
        for part in node.children
        for line in part.children
    ]
    order = sorted(range(len(head)), key=lambda i: (i > 0, head[i] not in VERDICTS))
    head, *lines = [[line[i] for i in order] for line in (head, *lines)]
    numbers = [_are_numbers([line[i] for line in lines]) for i in range(len(head))]
    columns = [_column(name, number) for name, number in zip(head, numbers, strict=True)]
    rows = [
        Row(
            [_cell(markdown, text, of) for text, of in zip(line, numbers, strict=True)],
            is_paper=line[0].startswith("*") and line[0].endswith("*"),
        )
        for line in lines
    ]
    return DataTable(caption, columns, rows)


def _are_numbers(texts: list[str]) -> bool:
    """Whether at least half of what is said are numbers."""
    said = [text.removesuffix(" !") for text in texts if text not in ("", NONE, *TONES)]
    return 2 * sum(bool(NUMBER.fullmatch(text)) for text in said) >= max(1, len(said))


def _column(name: str, is_number: bool) -> Column:
    found = HEAD.fullmatch(name)
    return Column(found[1], found[2], is_number) if found else Column(name, "", is_number)


def _cell(markdown: MarkdownIt, text: str, is_number: bool) -> Cell:
    alarm = is_number and text.endswith(" !")
    html = markdown.renderInline(text.removesuffix(" !") if alarm else text)
    if is_number:
        html = SPREAD.sub(lambda found: f'<span class="spread">{found[0]}</span>', html)
    return Cell(Markup(html), TONES.get(text, ""), alarm)
