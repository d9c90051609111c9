"""What every page keeps, as rules over the parsed page: a row for each, named by its sentence.

findings(html) -> ["one h1: there are 2", ...]      empty for a page that keeps them all
"""

import re
import unicodedata
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from reward_functions.reports.pages import page as kit
from tests.gallery.parsed import NotStrict, parsed

LARGEST = 3_000_000
"""Bytes of a page: issue 14."""

SCRIPT = (Path(kit.__file__).parents[1] / "templates" / "page.js").read_text()
"""The one script that a page has: it sorts and filters."""

LONGEST_SCRIPT = 3_000
"""Bytes of it."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'"
)
"""Its own style and its one script, and nothing else."""

FETCHING = {
    # attributes by which an element has a browser fetch something; an `a` waits for a click
    *("action", "background", "cite", "classid", "codebase", "data", "formaction", "icon"),
    *("longdesc", "manifest", "ping", "poster", "profile", "src", "srcdoc", "srcset", "usemap"),
}
LINKS = {"href", "xlink:href"}
ACTIVE = {
    *("script", "noscript", "template", "iframe", "frame", "object", "embed", "applet", "base"),
    *("link", "form", "input", "button", "foreignobject", "animate", "set", "audio", "video"),
}
"""Elements that run, fetch or send; no page needs one but its script, which makes its own."""

RUNS = re.compile(r"\s*(javascript|data|vbscript|blob):", re.IGNORECASE)
FETCHES = re.compile(r"url\s*\((?!\s*[\"']?#)|@import", re.IGNORECASE)
"""Addresses that run something, and styles that fetch something."""

CONTROLS = {"Cc", "Cs"}
"""Kinds of characters that no page shows: terminals obey some of them."""

LAYOUT = {"\n", "\t"}

HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff]")
"""Characters that are not seen, or that turn the text around them."""


def one_h1(page):
    if len(found := page.all("h1")) != 1:
        yield f"there are {len(found)}"
    yield from ("it is empty" for h1 in found if not h1.text.strip())


def headings_without_gaps(page):
    levels = [int(each.name[1]) for each in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    for above, below in pairwise(levels):
        if below > above + 1:
            yield f"h{below} below h{above}"


def a_language_a_title_and_a_viewport(page):
    if not page.attributes.get("lang"):
        yield "no lang"
    if not "".join(title.text for title in page.all("title") if not title.inside("svg")).strip():
        yield "no title"
    if _meta(page, "name", "viewport") != "width=device-width, initial-scale=1":
        yield "no viewport, or one that forbids to enlarge"
    if not any(meta.attributes.get("charset") == "utf-8" for meta in page.all("meta")):
        yield "no charset"


def a_policy_that_allows_its_own_style_and_script_alone(page):
    if (found := _meta(page, "http-equiv", "Content-Security-Policy")) != POLICY:
        yield repr(found)
    others = {meta.attributes.get("http-equiv") for meta in page.all("meta")}
    yield from sorted(others - {None, "Content-Security-Policy"})


def one_script_that_is_ours(page):
    found = page.all("script")
    if [each.text for each in found] != [SCRIPT]:
        yield f"there are {len(found)}, or it is another"
    if any(each.attributes != {"type": "module"} for each in found):
        yield "it has other attributes"
    if len(SCRIPT) > LONGEST_SCRIPT:
        yield f"it has {len(SCRIPT):,} bytes"


def nothing_that_runs_or_sends(page):
    for element in page:
        if element.name in ACTIVE and not (element.name == "script" and element.text == SCRIPT):
            yield f"<{element.name}>"
        for name, value in element.attributes.items():
            if name.startswith("on"):
                yield f"<{element.name} {name}>"
            if name in LINKS and RUNS.match(value or ""):
                yield f"<{element.name} {name}={value[:30]!r}>"


def nothing_that_is_fetched(page):
    for element in page:
        names = element.attributes.keys() & (FETCHING if element.name == "a" else FETCHING | LINKS)
        for name in names:
            if not (element.attributes[name] or "").startswith("#"):
                yield f"<{element.name} {name}>"
        if FETCHES.search(element.attributes.get("style") or ""):
            yield f"<{element.name} style>"
    for style in page.all("style"):
        if FETCHES.search(style.text):
            yield "a style sheet"


def pictures_have_names(page):
    for drawing in page.all("svg"):
        if drawing.attributes.get("aria-hidden") == "true":
            continue
        # The links of an image would not be reached.
        role = "group" if drawing.all("a") else "img"
        if drawing.attributes.get("role") != role or not _name(page, drawing):
            yield "an svg"
    yield from ("an img" for img in page.all("img") if "alt" not in img.attributes)


def tables_say_what_their_heads_head(page):
    for table in page.all("table"):
        for head in table.all("th"):
            if head.attributes.get("scope") not in {"col", "row", "colgroup", "rowgroup"}:
                yield f"a th without scope: {head.text[:30]!r}"
            if not head.text.strip():
                yield "a th without words"
        if not table.all("th"):
            yield "a table without th"


def ids_are_unique_and_are_there(page):
    ids = Counter(each.attributes["id"] for each in page if "id" in each.attributes)
    yield from (f"{name!r} comes {count} times" for name, count in ids.items() if count > 1)
    for element in page:
        for name in ("href", "aria-labelledby", "aria-describedby", "for"):
            value = element.attributes.get(name) or ""
            if name == "href":
                aims = [value[1:]] if value.startswith("#") and value != "#" else []
            else:
                aims = value.split()
            yield from (f"nothing has the id {aim!r}" for aim in aims if aim not in ids)


def everything_is_in_one_main(page):
    if len(mains := page.all("main")) != 1:
        yield f"there are {len(mains)}"
        return
    (body,) = page.all("body")
    outside = {each.name for each in body.children} - {"main", "header", "nav", "footer", "a"}
    yield from (f"<{name}> beside it" for name in sorted(outside))


def what_scrolls_can_be_reached_by_keyboard(page):
    for element in page.all("table"):
        holder = element.parent
        if holder.name != "div" or holder.attributes.get("tabindex") != "0":
            yield f"a table in <{holder.name}>"
        elif holder.attributes.get("role") not in {"region", "group"} or not _name(page, holder):
            yield "it has no name"


def no_character_that_hides_or_commands(page):
    for element in page:
        texts = [part for part in element.texts if isinstance(part, str)]
        for text in (*texts, *(value or "" for value in element.attributes.values())):
            for char in sorted(set(text) - LAYOUT):
                if unicodedata.category(char) in CONTROLS or HIDDEN.match(char):
                    yield f"U+{ord(char):04X} in <{element.name}>"


def colours_follow_the_reader(page):
    styles = "".join(style.text for style in page.all("style"))
    for words in ("color-scheme: light dark", "prefers-color-scheme: dark", "@media print"):
        if words not in styles:
            yield f"no {words!r}"


RULES = [
    one_h1,
    headings_without_gaps,
    a_language_a_title_and_a_viewport,
    a_policy_that_allows_its_own_style_and_script_alone,
    one_script_that_is_ours,
    nothing_that_runs_or_sends,
    nothing_that_is_fetched,
    pictures_have_names,
    tables_say_what_their_heads_head,
    ids_are_unique_and_are_there,
    everything_is_in_one_main,
    what_scrolls_can_be_reached_by_keyboard,
    no_character_that_hides_or_commands,
    colours_follow_the_reader,
]


def findings(html):
    """What a page does not keep, as sentences."""
    if (size := len(html.encode("utf-8", "surrogatepass"))) > LARGEST:
        return [f"size: {size:,} bytes"]
    try:
        page = parsed(html)
    except NotStrict as error:
        return [f"strict HTML: {error}"]
    return [
        f"{rule.__name__.replace('_', ' ')}: {found}"
        for rule in RULES
        for found in dict.fromkeys(rule(page))
    ]


def _meta(page, key, name):
    """The content of a meta element."""
    found = [meta for meta in page.all("meta") if meta.attributes.get(key) == name]
    return found[0].attributes.get("content") if len(found) == 1 else None


def _name(page, element):
    """By its label, or by the element that its label is."""
    by = element.attributes.get("aria-labelledby")
    if by:
        return any(each.attributes.get("id") == by and each.text.strip() for each in page)
    return (element.attributes.get("aria-label") or "").strip()
