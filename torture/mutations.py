"""Ways to change a file a little: bits, bytes, lines, words and numbers, as damage and other people's programs do.

Every change draws its choices from the case, so that a failing one can be made smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from torture.choices import Choices

_MOST = 4
_ODD_BYTES = (0x00, 0x0A, 0x20, 0x22, 0x2C, 0x3C, 0x7F, 0x80, 0xC3, 0xEF, 0xFE, 0xFF)
_ODD_NUMBERS = (
    b"0", b"-1", b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"-0.0", b"1e308", b"99999999999999999999",
    b"2147483648",    b"-2147483649", b"0x10", b"1_0", b"9" * 5000, b"0.1e", b".", b"1.5", b"\xd9\xa3", b"",
)  # fmt: skip
_ODD_WORDS = (
    b"", b" ", b"NA", b"None", b"true", b"null", b"a", b'"', b"'", b",", b";", b"|", b"{", b"}", b"(", b")", b"[", b"]",
    b"[[", b"<", b">", b"</", b"<!--", b"-->", b"]]>", b"&x;", b"%s", b"=", b"#", b"//", b"/*", b"\\", b"\\ud800",
    b"\r", b"\r\n", b"\n\n", b"\t", b"\x00", b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80",
    b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"[" * 3000, b"{" * 3000, b"<a>" * 3000, b'{"a":' * 3000, b"x" * 100_000,
    b'<!ENTITY a "b">', b"__index_level_0__", b"columns", b"dagpost",
)  # fmt: skip
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*|[-+.0-9eE]+|\S")
_NUMBER = re.compile(rb"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def mutated(content: bytes, choices: Choices, text: bool) -> bytes:
    """The content with one to four changes; text is also changed by lines, words and numbers."""
    ways = [*_OF_BYTES, *(_OF_TEXT if text else ())]
    for _ in range(choices.integer(1, _MOST)):
        content = choices.pick(ways)(content, choices)
    return content


def _place(content: bytes, choices: Choices) -> int:
    return choices.integer(0, max(len(content) - 1, 0))


def _flip_bit(content: bytes, choices: Choices) -> bytes:
    place, bit = _place(content, choices), choices.integer(0, 7)
    return content[:place] + bytes(byte ^ 1 << bit for byte in content[place : place + 1]) + content[place + 1 :]


def _set_byte(content: bytes, choices: Choices) -> bytes:
    place = _place(content, choices)
    byte = choices.pick(_ODD_BYTES) if choices.chance(0.5) else choices.integer(0, 255)
    return content[:place] + bytes([byte]) + content[place + 1 :]


def _cut_short(content: bytes, choices: Choices) -> bytes:
    return content[: _place(content, choices)]


def _cut_out(content: bytes, choices: Choices) -> bytes:
    place = _place(content, choices)
    return content[:place] + content[place + choices.integer(1, 64) :]


def _repeat(content: bytes, choices: Choices) -> bytes:
    place = _place(content, choices)
    part = content[place : place + choices.integer(1, 64)]
    return content[:place] + part * choices.pick((2, 3, 1000)) + content[place + len(part) :]


def _exchange(content: bytes, choices: Choices) -> bytes:
    first, second = sorted((_place(content, choices), _place(content, choices)))
    return content[:first] + content[second:] + content[first:second]


def _change_word(content: bytes, choices: Choices) -> bytes:
    return _in_place_of_one(_WORD, content, choices, lambda _: choices.pick(_ODD_WORDS))


def _change_number(content: bytes, choices: Choices) -> bytes:
    return _in_place_of_one(_NUMBER, content, choices, lambda _: choices.pick(_ODD_NUMBERS))


def _repeat_word(content: bytes, choices: Choices) -> bytes:
    return _in_place_of_one(_WORD, content, choices, lambda word: word + b" " + word)


def _other_word(content: bytes, choices: Choices) -> bytes:
    """A word of the file in the place of another: names that come twice, circles of parents."""
    words = _WORD.findall(content)
    return _in_place_of_one(_WORD, content, choices, lambda word: choices.pick(words) if words else word)


def _in_place_of_one(
    pattern: re.Pattern[bytes], content: bytes, choices: Choices, other: Callable[[bytes], bytes]
) -> bytes:
    found = list(pattern.finditer(content))
    if not found:
        return content
    chosen = choices.pick(found)
    return content[: chosen.start()] + other(chosen[0]) + content[chosen.end() :]


def _change_lines(content: bytes, choices: Choices) -> bytes:
    """A line that is gone, twice there, or elsewhere."""
    lines = content.split(b"\n")
    line = lines.pop(choices.integer(0, len(lines) - 1))
    for _ in range(choices.integer(0, 2)):
        lines.insert(choices.integer(0, len(lines)), line)
    return b"\n".join(lines)


def _encode_otherwise(content: bytes, choices: Choices) -> bytes:
    encoding = choices.pick(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "utf-7"))
    return content.decode("utf-8", "replace").encode(encoding, "replace")


_OF_BYTES = (_flip_bit, _set_byte, _cut_short, _cut_out, _repeat, _exchange)
_OF_TEXT = (
    _change_word, _change_word, _change_number, _change_number, _change_number, _repeat_word, _other_word, _other_word,
    _change_lines, _encode_otherwise,
)  # fmt: skip
