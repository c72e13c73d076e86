"""Text in pictures: how wide it is at most, cut to a width, and safe in XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from unicodedata import combining, east_asian_width

NARROW, WIDE = set("ijlIt.,:;|!'()[]{}·` fr-"), set("mwMW@%—…")
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def width_of(text: str, size: float) -> float:
    """Pixels of a line in the widest of the usual sans-serif faces.

    >>> width_of("age", 10) < width_of("AGE", 10) < width_of("wwww", 10)
    True
    """
    return size * sum(_em(letter) for letter in text)


def fitted(text: str, size: float, width: float) -> str:
    """The text, or its beginning with `…`, so that it is not wider.

    >>> fitted("occupation", 10, 200), fitted("occupation", 10, 40)
    ('occupation', 'occu…')
    """
    if width_of(text, size) <= width:
        return text
    while text and width_of(text + "…", size) > width:
        text = text[:-1]
    return text + "…"


def lines_of(words: Sequence[str], size: float, width: float, between: str = "  ") -> list[str]:
    """Words on as few lines as fit a width; a word that is wider alone is cut.

    >>> lines_of(["age:1", "sex:0", "zip:2"], 10, 70)
    ['age:1  sex:0', 'zip:2']
    """
    lines: list[str] = []
    for word in (fitted(word, size, width) for word in words):
        if lines and width_of(lines[-1] + between + word, size) <= width:
            lines[-1] += between + word
        else:
            lines.append(word)
    return lines


def safe(text: str) -> str:
    """Escaped for XML, without characters that XML does not know.

    >>> safe('<a & "b">\\x00')
    '&lt;a &amp; &quot;b&quot;&gt;\ufffd'
    """
    return escape(NOT_IN_XML.sub("\ufffd", text), quote=True)


def _em(letter: str) -> float:
    if combining(letter):
        return 0.0
    if letter in NARROW:
        return 0.42
    if letter in WIDE:
        return 1.0
    if east_asian_width(letter) in "WF":
        return 1.05
    return 0.72 if letter.isupper() else 0.64
