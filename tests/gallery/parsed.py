"""A page as a tree, read more strictly than browsers do.

HTML lets a parser guess: an end tag may be missing, an attribute may come twice. Pages of this
project leave nothing to guess, so that a text of data that broke out of its place cannot hide.
"""

from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
"""Elements of HTML without an end; of an SVG each has one, or closes itself."""


class NotStrict(Exception):
    """Where a page leaves a parser to guess."""


class Element:
    """One element: its attributes, what stands in it, and where it stands."""

    def __init__(self, name, attributes, parent):
        self.name, self.attributes, self.parent = name, attributes, parent
        self.children, self.texts = [], []

    def __iter__(self):
        """It and all elements in it, in the order of the page."""
        yield self
        for child in self.children:
            yield from child

    def all(self, *names):
        """Those in it of some names."""
        return [element for element in self if element.name in names]

    def inside(self, name):
        """Whether it stands in an element of this name."""
        return self.parent is not None and (self.parent.name == name or self.parent.inside(name))

    @property
    def words(self):
        """The text that a reader has: without styles and scripts."""
        return "".join(
            part if isinstance(part, str) else part.words
            for part in self.texts
            if isinstance(part, str) or part.name not in {"script", "style"}
        )

    @property
    def text(self):
        """The text in it and in what it holds."""
        return "".join(part if isinstance(part, str) else part.text for part in self.texts)


class _Strict(HTMLParser):
    """Builds the tree, and raises for what is to be guessed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.open = Element("", {}, None)
        self.doctype = ""

    def handle_decl(self, decl):
        self.doctype = decl

    def unknown_decl(self, data):
        raise NotStrict(f"an unknown declaration: {data[:40]!r}")

    def handle_comment(self, data):
        raise NotStrict(f"a comment: {data[:40]!r}")

    def handle_pi(self, data):
        raise NotStrict(f"a processing instruction: {data[:40]!r}")

    def handle_starttag(self, tag, attrs):
        element = self._add(tag, attrs)
        if tag not in VOID:
            self.open = element

    def handle_startendtag(self, tag, attrs):
        if not (self.open.name == "svg" or self.open.inside("svg")) and tag not in VOID:
            raise NotStrict(f"<{tag}/> closes itself, which HTML does not know")
        self._add(tag, attrs)

    def handle_endtag(self, tag):
        if self.open.name != tag:
            raise NotStrict(f"</{tag}> where <{self.open.name}> is open")
        self.open = self.open.parent

    def handle_data(self, data):
        self.open.texts.append(data)

    def _add(self, tag, attrs):
        attributes = dict(attrs)
        if len(attributes) != len(attrs):
            raise NotStrict(f"<{tag}> has an attribute twice")
        element = Element(tag, attributes, self.open)
        self.open.children.append(element)
        self.open.texts.append(element)
        return element


def parsed(html):
    """The html element of a page.

    Raises:
        NotStrict: the page leaves something to guess.
    """
    parser = _Strict()
    parser.feed(html)
    parser.close()
    if parser.open is not parser.root:
        raise NotStrict(f"<{parser.open.name}> stays open")
    if parser.doctype.lower() != "doctype html":
        raise NotStrict("no <!doctype html>")
    if [element.name for element in parser.root.children] != ["html"]:
        raise NotStrict("not one html element")
    if "".join(part for part in parser.root.texts if isinstance(part, str)).strip():
        raise NotStrict("text outside of the html element")
    return parser.root.children[0]
