"""The bytes of a text file as letters: UTF-8, or what spreadsheets write instead, with a notice.

UTF-16 is known by the mark at its beginning. Other bytes that are not UTF-8 are read as Windows-1252, of which Latin-1
is a part as far as printable letters go; the notice names the first such byte, so that a person can check the letter.
A file that is UTF-8 but for a few bytes is damaged, and one with zero bytes, or with control characters where it is not
UTF-8, is not text: these are refused.
"""

from __future__ import annotations

import codecs
import re

from dagpost._tools.spelling import either
from dagpost.errors import InputError, warn

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: What hardly any text holds; tabs, line ends and form feeds are not among them.
_CONTROL = r"\x00-\x08\x0b\x0e-\x1f\x7f"
_REPLACED = "\ufffd"
_WINDOWS, _LATIN = ("cp1252", "Windows-1252 (Latin-1)"), ("latin-1", "Latin-1")
_UNUSED_IN_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def decoded(content: bytes, source: str) -> str:
    """The text of a file, with plain line ends; what is not text is an error that names the source and the line."""
    try:
        text = content.decode("utf-16" if content[:2] in _UTF_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        if content[:2] in _UTF_16:
            raise InputError(f"{source}: begins as UTF-16, but is not ({error.reason}). {_remedy()}") from None
        text = _in_one_byte_letters(content, error.start, source)
    else:
        _refuse_binary(text, "\0", source)
        if content[:2] in _UTF_16:
            warn(f"{source}: is in UTF-16 and was read as such. Other programs may want UTF-8.")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _in_one_byte_letters(content: bytes, wrong: int, source: str) -> str:
    """The text where each byte is a letter; `wrong` is where the first byte stands that is not UTF-8."""
    line = content.count(b"\n", 0, wrong) + 1
    place = f"byte 0x{content[wrong]:02x} in line {line}"
    as_far = content.decode("utf-8", "replace")
    bad = as_far.count(_REPLACED)
    if len(as_far) - bad - sum(map(str.isascii, as_far)) > bad:
        raise InputError(
            f"{source}: is text in UTF-8 except for {bad} {'place' if bad == 1 else 'places'} (the first: {place}). "
            f"It may be damaged, or joined from files in different encodings. {_remedy()}"
        )
    # Windows-1252 has no letters for five bytes.
    encoding, words = _WINDOWS if not _UNUSED_IN_WINDOWS.search(content) else _LATIN
    text = content.decode(encoding)
    _refuse_binary(text, _CONTROL, source)
    warn(
        f"{source}: is not text in UTF-8 ({place}); it was read as {words}, in which that byte is "
        f"{bytes([content[wrong]]).decode(encoding)!r}. If letters look wrong, save the file as UTF-8."
    )
    return text


def _refuse_binary(text: str, letters: str, source: str) -> None:
    """Refuse a text that holds letters of a class that no text holds."""
    found = re.search(f"[{letters}]", text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        what = "a zero byte" if found[0] == "\0" else f"the control character {found[0]!r}"
        raise InputError(f"{source}: is a binary file, not text ({what} in line {line}). {_remedy()}")


def _remedy() -> str:
    other = either(
        "read other formats with pandas or polars and pass the data frame", "save other formats as CSV first"
    )
    return f"Give a text file in UTF-8 (in a spreadsheet: 'CSV UTF-8'); {other}."
