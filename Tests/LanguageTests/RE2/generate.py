#!/usr/bin/env python3
"""Writes cases.ndjson: regular expressions, texts, and what RE2 finds, for RE2Tests.swift.

    python3 -m venv v && v/bin/pip install google-re2 && v/bin/python Tests/LanguageTests/RE2/generate.py

Each line is [EXPRESSION, TEXT, RESULT]; the result is false if nothing is found, null if the expression is invalid, and otherwise
a list of the first match and its first group, null if that is not a part of it. The random expressions are the same in each run.
"""

import json
import random
from pathlib import Path

import re2

# One row for each rule of the syntax, with texts.
TABLE = {
    r"^\d+$": ["12", "٣", ""], r"^\w$": ["a", "_", "é", "9"], r"^\s$": [" ", "\t", "\n", "\v", "\f", "\r", "\u00a0"],
    r"^\D\W\S$": ["é!x", "1!x"], r"\bé": ["aé", "é"], r"\Bb": ["ab", "b", "éb"], r"\bcat\b": ["a cat!", "concat"],
    r"^[[:space:]]$": ["\v", "\u00a0"], r"^[[:^space:]]$": ["\v", "é"], r"^[[:word:]]+$": ["a_1", "é"],
    r"[[:alfa:]]": ["a"], r"[[:alpha]": ["[", "a", "x"], r"[[:a]": [":", "z"], r"[[=a=]]": ["=]"], r"[[:alpha:": ["a"],
    r"(?i)k": ["k", "K", "\u212a"], "(?i)\u212a": ["k", "K"], r"(?i)ſ": ["s", "S"], r"(?i)[^k]": ["\u212a", "K", "x"],
    r"(?i)σ": ["ς", "Σ", "σ", "x"], r"(?i)[s-t]": ["ſ", "S", "u"], r"(?i)ß": ["ẞ", "ss"], r"(?i)å": ["\u212b", "Å"],
    r"(?i)É": ["é"], r"(?i)θ": ["ϑ", "ϴ", "Θ"], r"(?i)µ": ["μ", "Μ"], r"(?i)Ǆ": ["ǅ", "ǆ"], r"(?i)\x{1e9e}": ["ß"],
    r"(?i)ı": ["i", "I", "İ"], r"(?i)İ": ["i", "I"], r"(?i)[a-z]": ["K", "\u212a", "é"], r"(?i)\w": ["\u212a", "ſ"],
    r"\0": ["\0", "0"], r"\012": ["\n"], r"\12": ["\n", "12"], r"\1": ["1"], r"\18": ["\x01" + "8"], r"\8": ["8"], r"\777": ["ǿ"],
    r"\u00e9": ["é"], r"\e": ["\x1b"], r"\a\f\v\t\r\n": ["\a\f\v\t\r\n"], r"\y": ["y"], r"\_": ["_"], r"\é": ["é"], r"\-": ["-"],
    r"\x41\x{42}": ["AB"], r"\x4": ["x4"], r"\x{}": [""], r"\x{110000}": [""], r"\x{d800}": [""], r"\x{0000041}": ["A"], r"\xg": ["g"],
    r"\Z": ["a"], r"\A\z": ["", "a"], r"\G": [""], r"\C": ["a"], r"[\C]": ["a"], r"[\b]": ["\b"], r"[\A]": ["A"], r"[\z]": ["z"],
    r"a{2}": ["a", "aa"], r"{2}": ["{2}"], r"a|{2}": ["{2}"], r"({2})": ["{2}"], r"a{,2}": ["a{,2}", "aa"], r"a{2": ["a{2"],
    r"a{2,1}": ["a"], r"a{1000}": ["a"], r"a{1001}": ["a"], r"(a{500}){3}": ["a"], r"(a{2}){500}": ["a" * 1000, "a" * 999],
    r"(a{2}){501}": ["a"], r"((a{10}){10}){10}": ["a" * 1000], r"((a{10}){10}){11}": ["a"], r"(a*){1000}": ["b"], r"a{01}": ["a"],
    r"a{0}": ["", "a"], r"a{0,}": [""], r"a**": ["a"], r"a*+": ["a"], r"a*?": ["a"], r"a??": ["a"], r"a???": ["a"], r"a{2}{3}": ["a"],
    r"a{2}?": ["aa"], r"a{2}*": ["a"], r"(a*)*": ["b"], r"*": [""], r"|*": [""], r"(*)": [""], r"^*": ["", "a"], r"$+": ["a"],
    r"\b*": ["a"], r"(?i)*": ["a"], r"a(?i)*": ["a"], r"(?:)*": ["a"], r"()+": ["a"], r"(|a)+$": ["a", "b"],
    r"[]": [""], r"[^]": ["a"], r"[]a]": ["]", "a", "b"], r"[^]a]": ["]", "b"], r"[a-]": ["-"], r"[-a]": ["-"], r"[a-c-e]": ["-", "d", "e"],
    r"[\d-a]": ["-", "5", "b"], r"[a-\d]": ["a"], r"[b-a]": ["a"], r"[--a]": ["-", "A", "b"], r"[\]]": ["]"], r"[\\-a]": ["]", "\\"],
    r"[a": ["a"], r"[\Qa]": ["a"], r"[\x{41}-\x5a]": ["M"], r"[^\d\D]": ["a"], r"[[:digit:]-z]": ["-", "z", "5"], r"[a-[:digit:]]": ["a"],
    r"\Qa.b\E+": ["a.bb", "axb"], r"\Qa.b": ["a.b"], r"\E": ["E", ""], r"a\Q\E*": ["aa", "b"], r"\Q\E*": ["a"], r"\Qa\Eb\Q*": ["ab*"],
    r"\Qa\\E": ["a\\"], r"\Q\Q\E": ["\\Q"], r"a\Qb\E{2}": ["abb", "ab"],
    r"(?P<n>a)(?<m>b)": ["ab"], r"(?P<n>a)(?P<n>b)": ["ab"], r"(?P<>a)": ["a"], r"(?P<n a>a)": ["a"], r"(?P<n": ["a"], r"(?P=n)": ["a"],
    r"(?<1>a)": ["a"], r"(?P<é>a)": ["a"], r"(?P>n)": ["a"], r"(?'n'a)": ["a"],
    r"(?i-s:A)b": ["aB", "ab"], r"a(?i)b|c": ["C", "AB", "aB"], r"(a(?i)b)c": ["aBC", "aBc"], r"(?)": ["a"], r"(?-)": ["a"], r"(?i-)": ["a"],
    r"(?--i)a": ["a"], r"(?-i)a": ["A"], r"(?ii)a": ["A"], r"(?U)a+": ["a"], r"(?x)a b": ["ab"], r"(?i": ["a"], r"(?:a": ["a"],
    r"(?=a)": ["a"], r"(?!a)": ["b"], r"(?<=a)b": ["ab"], r"(?<!a)b": ["b"], r"(?>a)": ["a"], r"(?#c)": ["a"], r"(?|a)": ["a"],
    r"(": [""], r")": [""], r"a)": [""], r"(()": [""], r"\\": ["\\"], "\\": [""], r"a\ ": ["a "], r"(?m)^a$": ["b\na\nc", "ba"],
    r"(?m)^$": ["a\n", "a"], r"^$": ["\n", ""], r"a$": ["a\n", "a"], r"(?s).": ["\n"], r".": ["\n", "😀"], r"^.$": ["😀", "e\u0301"],
    r"\pN": ["1", "a"], r"\PN": ["1", "a"], r"\p{Lu}": ["É", "é"], r"\p{^Lu}": ["é"], r"\P{^Lu}": ["É"], r"[\pL\d]": ["1", "é", "!"],
    r"\p{Any}": ["x", ""], r"\p{Foo}": ["a"], r"\p": [""], r"\p{": [""], r"\p{L": [""], r"\pX": ["X"], r"\p{Xx}": [""], r"\p{Cn}": ["\u0378"],
    r"\pC": ["\u0378", "\u0001", "\ue000"], r"\p{LC}": ["a"], r"\p{}": [""], r"\p{L&}": ["a"], r"(?i)\p{Lu}": ["é", "É", "1"],
    r"(?i)[[:upper:]]": ["a"], r"(?i)\x41": ["a"], r"x*|y": ["z"], r"a||b": ["c"], r"(a|)b": ["b"], r"||": [""], r"a.c": ["a\nc", "aéc"],
}  # fmt: skip

# What the engine does not have: RE2Tests.swift has the reasons.
PIECES = [
    "a", "b", "é", "_", "1", " ", r"\.", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\b", r"\B", "^", "$", r"\A", r"\z", ".",
    "[ab]", "[^a]", "[a-c]", r"[\d_]", r"[^\w]", "[[:alpha:]]", "[]a]", "[a-]", r"\pL", r"\p{Lu}", r"\P{N}", r"\x41", r"\n", "(?i)", "(?s)",
    "(?m)", "(?-i)", "\\", "[", "]", "(", ")", "{", "}", "*", "+", "?", "|", "-", ",", "2", r"\Q", r"\E", "(?:", "(?i:", "(?P<n>", "k",
    "\u212a", "s", "\n", r"\012", "{2}", "{1,2}", "{0}", "{1,}", "*?", "+?",
]  # fmt: skip
LETTERS = ["a", "b", "A", "é", "É", "_", "1", " ", "\n", ".", "k", "K", "\u212a", "s", "ſ", "-", "]", "{", "2"]


def expression(generator: random.Random, depth: int = 0) -> str:
    """An expression that is valid more often than not."""
    choice = generator.random()
    if choice < 0.45 or depth > 3:
        return generator.choice(PIECES[:36])
    if choice < 0.6:
        return expression(generator, depth + 1) + generator.choice(["*", "+", "?", "{2}", "{1,2}", "{0,3}?", "+?", "{,2}"])
    if choice < 0.75:
        return generator.choice(["(", "(?:", "(?i:", "(?s-i:"]) + expression(generator, depth + 1) + ")"
    if choice < 0.85:
        return expression(generator, depth + 1) + "|" + expression(generator, depth + 1)
    return expression(generator, depth + 1) + expression(generator, depth + 1)


def found(pattern: str, text: str) -> list[str | None] | bool | None:
    options = re2.Options()
    options.log_errors = False
    try:
        match = re2.compile(pattern, options).search(text)
    except re2.error:
        return None
    return match is not None and [match[0], *match.groups()[:1]]


def main() -> None:
    generator = random.Random(42)
    cases = {(pattern, text): None for pattern, texts in TABLE.items() for text in texts}
    while len(cases) < 6000:
        if generator.random() < 0.7:
            pattern = "".join(expression(generator) for _ in range(generator.randint(1, 3)))
        else:
            pattern = "".join(generator.choice(PIECES) for _ in range(generator.randint(1, 8)))
        for _ in range(2):
            cases[(pattern, "".join(generator.choice(LETTERS) for _ in range(generator.randint(0, 6))))] = None
    lines = [json.dumps([pattern, text, found(pattern, text)], ensure_ascii=False) for pattern, text in cases]
    Path(__file__).with_name("cases.ndjson").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
