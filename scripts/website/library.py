"""Pages of the Swift libraries, from what DocC writes: its articles, tutorials and symbols.

DocC's own pages need its scripts. Here a type is one page, with its members.
"""

import html
import json
import re
from pathlib import Path

from .page import Page


def pages(archive: Path):
    """The pages of an archive of DocC."""
    return Library(archive).pages()


def breakable(name):
    """The name of a symbol, as HTML that may have line breaks after its labels."""
    return name.replace(":", ":<wbr>").replace("(", "(<wbr>", 1)


class Library:
    def __init__(self, archive: Path):
        self.archive = archive
        self.documents = {}
        for file in sorted((archive / "data").rglob("*.json")):
            document = json.loads(file.read_text())
            self.documents[document["identifier"]["url"]] = document
        self.places = {}
        for name in self.documents:
            self.places[name] = self.place(name)

    def place(self, name):
        """The path below `library/` of what has a name, and its anchor."""
        parts = name.split("/")[3:]
        document = self.documents[name]
        if document["identifier"]["url"].endswith("/documentation/Library"):
            return "index.html", ""
        if parts[0] == "tutorials":
            return (f"{parts[-1]}.html", "") if document["kind"] == "project" else ("index.html", "tutorials")
        if document["metadata"].get("symbolKind") == "module":
            return f"{parts[1]}.html", ""
        if document["metadata"].get("role") == "article":
            return f"{parts[-1]}.html", ""
        if document["metadata"].get("role") == "collectionGroup":
            return f"{parts[1]}/{parts[2]}.html", ""
        path = f"{parts[1]}/{self.file(parts[2])}.html"
        return path, self.file("/".join(parts[3:])) if len(parts) > 3 else ""

    @staticmethod
    def file(name):
        return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "operator-" + name.encode().hex()

    def pages(self):
        found = []
        modules = {name: d for name, d in self.documents.items() if d["metadata"].get("symbolKind") == "module"}
        for name, document in self.documents.items():
            path, anchor = self.places[name]
            role = document["metadata"].get("role")
            writer = Writer(self, document, path.count("/"))
            if document["kind"] in ("project", "article") and role not in ("collectionGroup", "collection") or document["kind"] == "project":
                content = writer.tutorial() if document["kind"] == "project" else writer.article()
                found.append(Page(f"library/{path}", document["metadata"]["title"], content))
            elif name in modules or (document["kind"] == "symbol" and len(name.split("/")) == 6):
                found.append(Page(f"library/{path}", document["metadata"]["title"], writer.symbol(), depth=2))
        root = next(d for n, d in self.documents.items() if n.endswith("/documentation/Library"))
        writer = Writer(self, root, 0)
        rows = "".join(
            f'<tr><td><a href="{self.places[name][0]}">{html.escape(d["metadata"]["title"])}</a></td>'
            f"<td>{writer.inline(d.get('abstract', []))}</td></tr>"
            for name, d in modules.items()
        )
        tutorials = "".join(
            f'<li><a href="{self.places[name][0]}">{html.escape(d["metadata"]["title"])}</a></li>'
            for name, d in self.documents.items()
            if d["kind"] == "project"
        )
        content = writer.article()
        if "id=\"tutorials\"" not in content.lower():
            content += f'<h2 id="tutorials">Tutorials</h2>\n<ul>{tutorials}</ul>\n'
        content += f'<h2 id="modules">Modules</h2>\n<table>{rows}</table>\n'
        found.append(Page("library/index.html", "Swift library", content))
        return found


class Writer:
    """Writes what DocC describes of one document as HTML."""

    def __init__(self, library, document, depth):
        self.library, self.document, self.depth = library, document, depth

    def link(self, identifier, text):
        path, anchor = self.library.places.get(identifier, (None, None))
        if path is None:
            reference = self.document["references"].get(identifier, {})
            if reference.get("type") == "link":
                return f'<a href="{html.escape(reference["url"])}">{text}</a>'
            return text
        return f'<a href="{"../" * self.depth}{path}{"#" + anchor if anchor else ""}">{text}</a>'

    def inline(self, parts):
        text = ""
        for part in parts:
            match part["type"]:
                case "text":
                    text += html.escape(part["text"], quote=False)
                case "codeVoice":
                    text += f"<code>{html.escape(part['code'], quote=False)}</code>"
                case "emphasis":
                    text += f"<em>{self.inline(part['inlineContent'])}</em>"
                case "strong":
                    text += f"<strong>{self.inline(part['inlineContent'])}</strong>"
                case "reference":
                    reference = self.document["references"].get(part["identifier"], {})
                    title = html.escape(reference.get("title", part["identifier"].split("/")[-1]), quote=False)
                    if reference.get("kind") == "symbol":
                        title = f"<code>{title}</code>"
                    text += self.link(part["identifier"], title)
                case kind:
                    raise SystemExit(f"DocC's {kind} has no form in the site")
        return text

    def blocks(self, parts, level=0):
        return "".join(self.block(part, level) for part in parts)

    def block(self, part, level):
        match part["type"]:
            case "paragraph":
                return f"<p>{self.inline(part['inlineContent'])}</p>\n"
            case "heading":
                if part["text"] == "Overview":
                    return ""
                number = min(part["level"] + level, 6)
                return f'<h{number} id="{html.escape(part["anchor"])}">{html.escape(part["text"])}</h{number}>\n'
            case "codeListing":
                return f"<pre><code>{html.escape(chr(10).join(part['code']), quote=False)}</code></pre>\n"
            case "aside":
                return f"<blockquote><strong>{part['name']}:</strong> {self.blocks(part['content'], level)}</blockquote>\n"
            case "unorderedList" | "orderedList":
                tag = "ul" if part["type"] == "unorderedList" else "ol"
                items = "".join(f"<li>{self.blocks(item['content'], level)}</li>" for item in part["items"])
                return f"<{tag}>{items}</{tag}>\n"
            case "termList":
                items = "".join(
                    f"<dt>{self.inline(item['term']['inlineContent'])}</dt><dd>{self.blocks(item['definition']['content'], level)}</dd>"
                    for item in part["items"]
                )
                return f"<dl>{items}</dl>\n"
            case "table":
                rows = ""
                for index, row in enumerate(part["rows"]):
                    tag = "th" if index == 0 else "td"
                    rows += "<tr>" + "".join(f"<{tag}>{self.blocks(cell)}</{tag}>" for cell in row) + "</tr>\n"
                return f"<table>\n{rows}</table>\n"
            case kind:
                raise SystemExit(f"DocC's {kind} has no form in the site")

    def sections(self, level=0):
        text = ""
        for section in self.document.get("primaryContentSections", []):
            match section["kind"]:
                case "declarations":
                    for declaration in section["declarations"]:
                        text += "<pre class=\"declaration\"><code>"
                        for token in declaration["tokens"]:
                            escaped = html.escape(token["text"], quote=False)
                            identifier = token.get("identifier")
                            text += self.link(identifier, escaped) if identifier else escaped
                        text += "</code></pre>\n"
                case "parameters":
                    items = "".join(
                        f"<dt><code>{html.escape(item['name'])}</code></dt><dd>{self.blocks(item['content'], level)}</dd>"
                        for item in section["parameters"]
                    )
                    text += f"<dl>{items}</dl>\n"
                case "content":
                    text += self.blocks(section["content"], level)
        return text

    def article(self):
        title = html.escape(self.document["metadata"]["title"])
        abstract = self.inline(self.document.get("abstract", []))
        return f"<h1>{title}</h1>\n<p>{abstract}</p>\n{self.sections()}{self.topics()}"

    def topics(self):
        text = ""
        for section in self.document.get("topicSections", []):
            rows = ""
            for name in section["identifiers"]:
                target = self.library.documents.get(name)
                if target is None or target["metadata"].get("role") == "collectionGroup":
                    continue
                title = html.escape(target["metadata"]["title"], quote=False)
                if target["kind"] == "symbol" and target["metadata"].get("symbolKind") != "module":
                    title = f"<code>{breakable(title)}</code>"
                rows += f"<tr><td>{self.link(name, title)}</td><td>{self.inline(target.get('abstract', []))}</td></tr>\n"
            if rows:
                title = section.get("title", "Topics")
                anchor = html.escape(section.get("anchor", "Topics"))
                text += f'<h2 id="{anchor}">{html.escape(title)}</h2>\n<table class="topics">\n{rows}</table>\n'
        return text

    def symbol(self):
        text = self.article()
        if self.document["metadata"].get("symbolKind") == "module":
            return text
        return text + self.members(self.document, 2)

    def members(self, document, level):
        """The members of a type, those of types in it after them."""
        text = ""
        for section in document.get("topicSections", []):
            for name in section["identifiers"]:
                target = self.library.documents.get(name)
                if target is None:
                    continue
                if target["metadata"].get("role") == "collectionGroup":
                    continue
                writer = Writer(self.library, target, self.depth)
                title = html.escape(target["metadata"]["title"], quote=False)
                anchor = self.library.places[name][1]
                text += f'<h3 id="{anchor}"><code>{breakable(title)}</code></h3>\n'
                text += f"<p>{writer.inline(target.get('abstract', []))}</p>\n{writer.sections(2)}"
                text += self.members(target, level + 1)
        return text

    def tutorial(self):
        text = f"<h1>{html.escape(self.document['metadata'].get('title') or '')}</h1>\n"
        for section in self.document["sections"]:
            if section["kind"] == "hero":
                text = f"<h1>{html.escape(section['title'])}</h1>\n{self.blocks(section['content'])}"
            elif section["kind"] == "tasks":
                for task in section["tasks"]:
                    text += f'<h2 id="{html.escape(task["anchor"])}">{html.escape(task["title"])}</h2>\n'
                    for part in task["contentSection"]:
                        text += self.blocks(part["content"])
                    steps = ""
                    for step in task["stepsSection"]:
                        if step["type"] != "step":
                            continue
                        steps += f"<li>{self.blocks(step['content'])}"
                        code = self.document["references"].get(step.get("code") or "")
                        if code:
                            steps += f"<pre><code>{html.escape(chr(10).join(code['content']), quote=False)}</code></pre>"
                        steps += "</li>\n"
                    text += f"<ol>{steps}</ol>\n"
        return text
