"""Results as HTML that runs no code: Markdown rendered by a library, figures as images."""

from base64 import b64encode
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from workflow.analysis.markdown import MISSING

TONES = {  # how the words of a verdict look
    "reproduced": "good",
    "holds here": "good",
    "yes": "good",
    "not reproduced": "bad",
    "does not hold here": "bad",
    "equal": "none",
    "no": "bad",
    "undecided": "open",
    "not run": "none",
    MISSING: "none",
}


def from_markdown(text: str, title: str) -> Markup:
    """Markdown as HTML without its own heading; each table is in a scrolling box named `title`.

    An image becomes a link: the page loads no file but itself.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]
    for i, token in enumerate(tokens):
        if token.type.startswith("heading"):
            token.tag = "h4"  # below the title
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "td_open" and tokens[i - 1].type == "tr_open":
            token.tag = tokens[i + 2].tag = "th"
            token.attrSet("scope", "row")
        elif token.content in TONES and tokens[i - 1].tag == "td":  # not a row's own head
            tokens[i - 1].attrSet("class", TONES[token.content])
    html = parser.renderer.render(tokens, parser.options, {})
    box = f'<div class="box" role="region" aria-label="{escape(title)}" tabindex="0"><table>'
    return Markup(html.replace("<table>", box).replace("</table>", "</table></div>"))


def figure(path: Path, description: str) -> Markup:
    """An SVG as an image, in which a browser runs no script and loads nothing; empty if absent."""
    image = Markup('<div class="box"><img src="{}" alt="{}"></div>')
    return image.format(data_uri(path), description) if path.exists() else Markup()


def data_uri(path: Path) -> str:
    """An SVG as a data URI."""
    return f"data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode()}"


def read(path: Path) -> str:
    """The text of a file; empty where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
