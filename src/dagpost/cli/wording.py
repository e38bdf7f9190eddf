"""Messages of the library in the words of the command line: `modularity='order'` is `--modularity order` there.

The library speaks of parameters; here they are options. Only two forms are touched: a setting with one of its values,
and the sentence that says what a parameter must be. What comes from the data stays as it is.
"""

from __future__ import annotations

import re

from dagpost.names import printable

#: Parameters that are options, and those that have another name here.
_SAME = "bins confidence counts engine interventions method modularity precision prior rows samples score seed threads"
_OPTIONS = {name: f"--{name}" for name in _SAME.split()} | {
    "unseen": "--unseen",
    "count": "--number",
    "equivalent_sample_size": "--ess",
    "max_parents": "--max-parents",
    "strategy": "--discretise",
}
_NAMES = "|".join(_OPTIONS)

_SETTING = re.compile(r"\b(engine|method|modularity|score|strategy|unseen)=(?:'([\w-]+)'|\"([\w-]+)\")")
_METHOD_OBJECT = re.compile(r"\bmethod=([A-Z]\w+)\(([\w=, ]*)\)")
_MUST = re.compile(
    rf"(^|: )The '({_NAMES})'(?: parameter)?(?: of [^.]*?)? must be (.*?)(?:, or None)?\. Got ", re.DOTALL
)
_METHOD_MUST = re.compile(r"The '(\w+)' parameter of (\w+MCMC|Bootstrap|GivenOrder|Trees) must be ")
_CALLS = (
    (re.compile(r"discretise\(data, columns=\[.*?\]\)"), "--discretise quantile"),
    (re.compile(r'dagpost\.datasets\.load\("([\w-]+)"\)'), r"dagpost data export \1 -o \1.csv"),
)
_COLUMN = re.compile(r"(^|: )'(counts|interventions)' names ")
_YEAR = 365.25 * 86_400.0
#: Whole phrases that make sense in Python only.
_PYTHON = (
    (
        'Discretise first: discretise(data, bins=3, strategy="quantile"), or --discretise quantile on the command line',
        "Discretise first: --discretise quantile",
    ),
    (
        "drop the incomplete rows (data.dropna() in pandas, data.drop_nulls() or drop_nans() in polars) or impute them "
        "(for example with sklearn.impute.SimpleImputer)",
        "drop the incomplete rows or fill them in",
    ),
    ("sample.diagnostics() does it", "draw again for that"),
)


def in_options(message: str) -> str:
    """A message with options in the place of parameters.

    >>> in_options("Set modularity='order', or choose another method.")
    'Set --modularity order, or choose another method.'
    >>> in_options("The 'max_parents' parameter of DagPosterior must be an int in [0, 12]. Got 99 instead.")
    '--max-parents must be an int in [0, 12]. Got 99 instead.'
    """
    for python, words in _PYTHON:
        message = message.replace(python, words)
    for call, words in _CALLS:
        message = call.sub(words, message)
    message = _METHOD_MUST.sub(lambda found: f"{_method_name(found[2])}:{found[1]} must be ", message)
    message = _METHOD_OBJECT.sub(
        lambda found: f"--method {_method_name(found[1])}:{found[2].replace(' ', '')}", message
    )
    message = _SETTING.sub(lambda found: f"{_OPTIONS[found[1]]} {found[2] or found[3]}", message)
    message = _MUST.sub(lambda found: f"{found[1]}{_OPTIONS[found[2]]} must be {found[3]}. Got ", message)
    return _COLUMN.sub(lambda found: f"{found[1]}{_OPTIONS[found[2]]} names ", message)


def _method_name(kind: str) -> str:
    """`PartitionMCMC` is `partition-mcmc`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def printable_lines(text: str) -> str:
    """Text from the data without anything that a terminal would obey, line breaks kept."""
    return "\n".join(printable(line) for line in text.split("\n"))


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(24.2), duration(300.0), duration(0.2)
    ('24 seconds', '5 minutes', 'under a second')
    """
    if seconds > 1_000 * _YEAR:
        return "thousands of years"
    for unit, length in (("years", _YEAR), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * length:
            return f"{seconds / length:,.0f} {unit}"
    if seconds < 1.0:
        return "under a second"
    return f"{seconds:.0f} second{'' if round(seconds) == 1 else 's'}"
