"""Values as TOML writes them (the standard library reads TOML, but does not write it).

Every value that is written here is read back by `tomllib` as it was: floats by their shortest exact form, text with
what TOML does not allow escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from dagpost.errors import InputError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_LINE = 100


def toml_key(name: str) -> str:
    """A name as the key of a table.

    >>> toml_key("age"), toml_key("M. Work")
    ('age', '"M. Work"')
    """
    return name if _BARE.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    r"""A text between quotation marks.

    >>> toml_text('a "b"\n')
    '"a \\"b\\"\\n"'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{text!r} holds half of a character (a surrogate), which no file of text can hold. Rename it."
        ) from None
    # JSON escapes all that TOML forbids, but for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: object) -> str:
    """A text, a truth value, a number, or a list of these.

    >>> toml_value(True), toml_value(0.1), toml_value(1e16), toml_value(["a", 2])
    ('true', '0.1', '1e+16', '["a", 2]')
    """
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    assert isinstance(value, Iterable), value
    items = [toml_value(item) for item in value]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= _LONGEST_LINE else "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def toml_comment(text: str) -> str:
    r"""A comment: what is not printable would end it, or be refused.

    >>> toml_comment("a\nb")
    '# a\\nb'
    """
    return "# " + "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
