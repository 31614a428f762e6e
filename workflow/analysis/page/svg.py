"""A figure's SVG as part of the page: ids of its own, colours that follow the page, a description.

Colours become the page's CSS variables, so that one drawing serves a light and a dark page; names
of fonts become the page's font.
"""

import re
from pathlib import Path
from xml.etree import ElementTree

from markupsafe import Markup

from tasks.common.errors import InputError
from workflow.analysis.figures import style

VARIABLES = {  # of the page's style sheet, by the colour that a figure is drawn with
    **{style.BLACK: "ink", "#FFFFFF": "paper", "#E0E0E0": "rule", style.GREY: "grey"},
    **{style.BLUE: "blue", style.ORANGE: "orange", style.GREEN: "green", style.SKY: "sky"},
    **{style.VERMILLION: "vermillion", style.PURPLE: "purple", style.YELLOW: "yellow"},
}
COLOURS = {colour.lower(): f"var(--{name})" for colour, name in VARIABLES.items()}
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
FONT = re.compile(r"font-family: [^;]*;?")
LEFT_OUT = ("metadata", "style")
SMALLEST = 0.75  # of the size that it was drawn for; what is narrower scrolls


def inline(path: Path, name: str, title: str, description: str) -> Markup:
    """The figure in `path`, its ids beginning with `name`. Raises InputError if it is damaged."""
    try:
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise InputError(f"{path}: not a figure ({error}); delete it and draw it again") from None
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', ElementTree.tostring(root, "unicode")))
    for element in root.iter():
        for child in [child for child in element if _tag(child) in LEFT_OUT]:
            element.remove(child)
        element.tag = _tag(element)
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        if attributes.get("id") not in used:
            attributes.pop("id", None)
        element.attrib.clear()
        element.attrib.update({key: _value(key, text, name) for key, text in attributes.items()})
        element.tail = (element.tail or "").strip()
        element.text = element.text if element.tag in ("text", "tspan") else None
    labels = {"title": title, "desc": description}
    for place, (tag, text) in enumerate(labels.items()):
        label = ElementTree.Element(tag, id=f"{name}-{tag}")
        label.text = text
        root.insert(place, label)
    root.attrib.clear()
    root.attrib.update(
        {
            **{"viewBox": f"0 0 {width:g} {height:g}", "role": "img"},
            **{"aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc"},
            "style": f"min-width: {SMALLEST * width:.0f}px; max-width: {1.2 * width:.0f}px",
        }
    )
    return Markup(ElementTree.tostring(root, "unicode"))


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _value(key: str, text: str, name: str) -> str:
    """An attribute's value with the page's ids, colours and fonts."""
    if key == "id":
        return f"{name}-{text}"
    if key == "href":
        return text.replace("#", f"#{name}-", 1)
    text = text.replace("url(#", f"url(#{name}-")
    if key == "style":
        text = FONT.sub("", text)
        text = COLOUR.sub(lambda found: COLOURS.get(found[0], found[0]), text).strip("; ")
    return " ".join(text.split()) if key == "d" else text
