// Searches the sections of the site. The index is loaded when the field gets the focus; it is a script, since pages that are read
// from a disk cannot load anything else.
"use strict";
const box = document.querySelector("search");
const field = box.querySelector("input");
const list = box.querySelector("ol");
const most = 20;
let index = null;

/** Called by the index with its sections: path, title of the page, anchor, heading, text. */
function receiveIndex(sections) {
  index = sections.map(([path, page, anchor, heading, text]) => {
    const title = heading && heading !== page ? `${page} · ${heading}` : page;
    return { url: path + (anchor ? "#" + anchor : ""), title, text, key: title.toLowerCase(), words: text.toLowerCase() };
  });
  show();
}

function loadIndex() {
  if (index !== null) return;
  index = [];
  const script = document.createElement("script");
  script.src = field.dataset.root + "index.js";
  document.head.append(script);
}

function rank(section, terms) {
  let points = 0;
  for (const term of terms) {
    if (section.key.includes(term)) points += section.key.split(/[^\w-]+/).includes(term) ? 20 : 10;
    else if (section.words.includes(term)) points += 1;
    else return 0;
  }
  return points + 1 / (1 + section.words.length / 500);
}

function excerpt(section, terms) {
  const places = terms.map((term) => section.words.indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, section.text.length) - 40);
  return (start > 0 ? "…" : "") + section.text.slice(start, start + 120);
}

function show() {
  const terms = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (terms.length ? index ?? [] : [])
    .map((section) => ({ section, points: rank(section, terms) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, most);
  list.replaceChildren(
    ...found.map(({ section }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const text = document.createElement("span");
      link.href = field.dataset.root + section.url;
      link.textContent = section.title;
      text.textContent = excerpt(section, terms);
      link.append(text);
      item.append(link);
      return item;
    }),
  );
  if (terms.length && index?.length && !found.length) {
    const item = document.createElement("li");
    item.textContent = "Nothing found";
    list.append(item);
  }
}

box.hidden = false;
field.addEventListener("focus", loadIndex);
field.addEventListener("input", show);
// A link can search: index.html?q=deadline.
if (location.search) {
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.focus();
}
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape") {
    field.value = "";
    show();
    field.blur();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && box.contains(document.activeElement)) {
    const places = [field, ...list.querySelectorAll("a")];
    const step = event.key === "ArrowDown" ? 1 : -1;
    event.preventDefault();
    places[(places.indexOf(document.activeElement) + step + places.length) % places.length].focus();
  } else if (event.key === "Enter" && document.activeElement === field) {
    list.querySelector("a")?.click();
  }
});
