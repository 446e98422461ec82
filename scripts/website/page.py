"""One page of the site: its frame, its links and the sections that a search finds."""

import html
import posixpath
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

NAVIGATION = [
    ("index.html", "Guide"),
    ("manual/index.html", "Manual"),
    ("library/index.html", "Swift library"),
    ("performance.html", "Performance"),
    ("comparison.html", "Comparison"),
]

# Nothing of a page comes from elsewhere, and nothing in a page can run but the search.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"

FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="stylesheet" href="{root}style.css">
<script src="{root}search.js" defer></script>
</head>
<body>
<header>
<a class="name" href="{root}index.html">rpcurl</a>
<nav>{navigation}</nav>
<search hidden><input type="search" placeholder="Search" aria-label="Search the site" data-root="{root}"><ol></ol></search>
</header>
<div class="body">
{contents}<main>
{content}
</main>
</div>
</body>
</html>
"""


@dataclass
class Page:
    """A page: its path in the site, its title, and the HTML between its headings."""

    path: str
    title: str
    content: str
    # Texts of links are listed at its side down to this level of headings.
    depth: int = 2
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    sections: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self):
        reader = Reader()
        reader.feed(self.content)
        reader.close()
        self.anchors, self.links = reader.anchors, reader.links
        self.headings = reader.headings
        self.sections = [
            (title, anchor, " ".join("".join(text).split())) for title, anchor, text in reader.sections
        ]

    def resolve(self, link):
        """The path in the site and the anchor that a link of this page leads to."""
        path, _, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), path)) if path else self.path
        return target, anchor

    def render(self, paths):
        """The whole page.

        `paths`: those of the pages of the site.
        """
        root = "../" * self.path.count("/")
        navigation = "".join(
            f'<a href="{root}{path}"{self.mark(path)}>{name}</a>' for path, name in NAVIGATION if path in paths
        )
        listed = [(level, anchor, title) for level, anchor, title in self.headings if anchor and level <= self.depth]
        contents = ""
        if len(listed) > 3:
            least = min(level for level, _, _ in listed)
            items = "".join(
                f'<li class="level{level - least}"><a href="#{html.escape(anchor)}">{html.escape(title)}</a></li>'
                for level, anchor, title in listed
            )
            contents = f'<aside><nav aria-label="This page"><ul>{items}</ul></nav></aside>\n'
        title = self.title if self.title.startswith("rpcurl") else f"{self.title} · rpcurl"
        return FRAME.format(
            policy=POLICY, title=html.escape(title), root=root, navigation=navigation, contents=contents, content=self.content
        )

    def mark(self, path):
        own = self.path.split("/")[0] if "/" in self.path else self.path
        return ' aria-current="page"' if path.split("/")[0] == own else ""


def dead_links(pages, files):
    """The links of pages that lead to no page, file or anchor of the site."""
    anchors = {page.path: page.anchors for page in pages}
    dead = []
    for page in pages:
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, anchor = page.resolve(link)
            if path not in anchors and path not in files or anchor and anchor not in anchors.get(path, ()):
                dead.append(f"{page.path}: {link}")
    return dead


class Reader(HTMLParser):
    """Finds the headings, anchors, links and texts of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.anchors, self.links, self.headings = set(), [], []
        self.sections = [("", "", [])]
        self.heading = None
        # Whether what is read is a list of what other sections have.
        self.is_list = False

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("class") == "topics":
            self.is_list = True
        if anchor := attributes.get("id"):
            self.anchors.add(anchor)
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])
        # An option of the manual is a section too.
        if re.fullmatch("h[1-6]", tag) or tag == "dt" and anchor:
            self.heading = (tag, anchor or "", [])
        elif self.heading is None and tag in ("p", "li", "td", "th", "pre", "dt", "dd", "div", "br"):
            self.sections[-1][2].append(" ")

    def handle_endtag(self, tag):
        if self.heading and tag == self.heading[0]:
            _, anchor, text = self.heading
            title = " ".join("".join(text).split())
            if tag != "dt":
                self.headings.append((int(tag[1]), anchor, title))
            self.sections.append((title, anchor, []))
            self.heading = None
        elif tag == "table":
            self.is_list = False

    def handle_data(self, data):
        if not self.is_list:
            (self.heading or self.sections[-1])[2].append(data)
