"""Text of the results as HTML that executes nothing: Markdown by its library, figures as images."""

from base64 import b64encode
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from tasks.common.errors import InputError
from workflow.analysis.markdown import MISSING

REMEDY = "delete it and run the same command again"
TONES = {  # how the words of a verdict look
    **{"reproduced": "good", "yes": "good", "not reproduced": "bad", "no": "bad"},
    **{"undecided": "open", "not run": "none", MISSING: "none"},
}


def from_markdown(text: str, title: str) -> Markup:
    """A Markdown text without its own heading; each table in a box that scrolls, called `title`."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
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
        elif token.content in TONES and tokens[i - 1].type == "td_open":
            tokens[i - 1].attrSet("class", TONES[token.content])
    html = parser.renderer.render(tokens, parser.options, {})
    box = f'<div class="box" role="region" aria-label="{escape(title)}" tabindex="0"><table>'
    return Markup(html.replace("<table>", box).replace("</table>", "</table></div>"))


def figure(path: Path, description: str) -> Markup:
    """An SVG as an image, in which a browser runs nothing and asks for nothing; empty if absent."""
    image = Markup('<div class="box"><img src="{}" alt="{}"></div>')
    return image.format(data_uri(path), description) if path.exists() else Markup()


def data_uri(path: Path) -> str:
    """An SVG inside of an address. Raises InputError if it is missing or damaged."""
    found = path.read_bytes() if path.exists() else b""
    if not (found.startswith(b"<?xml") and found.rstrip().endswith(b"</svg>")):
        raise InputError(f"{path}: not a figure; {REMEDY}")
    return f"data:image/svg+xml;base64,{b64encode(found).decode()}"


def read(path: Path) -> str:
    """The text of a file; empty where there is none. Raises InputError if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: damaged ({error}); {REMEDY}") from None
