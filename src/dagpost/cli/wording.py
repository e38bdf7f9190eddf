"""Messages of the library in the words of the command line: `modularity='order'` is `--modularity order` there.

The library speaks of parameters; here they are options. Only two forms are touched: a setting with one of its values,
and the sentence that says what a parameter must be, with kinds of numbers in the place of types. What comes from the
data stays as it is: it stands in quotes and is more than a word, or on a line of its own under the message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dagpost._tools.text import printable

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
    (
        re.compile(r"If the values are numbers, convert them: data\[.*?\]\.astype\(float\); otherwise"),
        "If the values are numbers, write them with a decimal point; otherwise",
    ),
    (re.compile(r'dagpost\.datasets\.load\("([\w-]+)"\)'), r"dagpost data export \1 -o \1.csv"),
)
#: Quoted text, as Python quotes it; not the value of a setting.
_QUOTED = re.compile(r"""(?<![\w=])(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")(?!\w)""")
_WORD = re.compile(r"[\w-]+")
_PLACE = re.compile(r"\0\d+\0")
#: Scores, priors and methods as Python writes them down, where a message compares them or says which one came.
_OBJECT = re.compile(
    r"\b(is|and|Got) (BDeu?|K2|BIC|BGe|(?:Uniform|InDegree|Edge)Prior|Bootstrap|Trees"
    r"|(?:Order|PartialOrder|Partition|Structure|Hybrid)MCMC)\(((?:\w+=[\w.+-]+(?:, )?)*)\) (?=there|here|instead)"
)
_KINDS = (
    (re.compile(r"\bmust be an int in \[(\S+), (\S+)\]"), r"must be a whole number from \1 to \2"),
    (re.compile(r"\bmust be an int\b"), "must be a whole number"),
    (re.compile(r"\bmust be a float in \[1e-100, 1e\+100\]"), "must be a number above 0 and below 1e+100"),
    (re.compile(r"\bmust be a float in \((\S+), (\S+)\)"), r"must be a number between \1 and \2"),
    (re.compile(r"\bmust be a float\b"), "must be a number"),
)
#: Settings of edges and tiers at the head of a complaint.
_HEADS = (
    (re.compile(r"^'(required|forbidden)' has "), r"--\1 has "),
    (re.compile(r"^'tiers' has "), "--tier has "),
    (re.compile(r"(^|: )'counts' must hold "), r"\1the column of --counts must hold "),
)
#: What tells the run of a checkpoint from others.
_OF_RUNS = _OPTIONS | {
    "required": "--required",
    "forbidden": "--forbidden",
    "tiers": "--tier",
    "graphs": "--number",
    "resumed_from": "--resume",
}
_DIFFERS = re.compile(rf"([(;] ?)({'|'.join(_OF_RUNS)}): (?=.* there)")
_COLUMN = re.compile(r"(^|: )'(counts|interventions)' names ")
_LONG_NAMES = ("MCMC", "Prior", "GivenOrder", "Bootstrap", "Trees")
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
    ("read with pandas or polars and pass the data frame", "save as CSV first"),
    ("read other formats with pandas or polars and pass the data frame", "save other formats as CSV first"),
    ("'rows' and 'seed' are for data", "--rows and --seed are for data"),
    ("Repeat the very call that began it", "Repeat the very command that began it"),
)


def in_options(message: str) -> str:
    """A message with options in the place of parameters.

    >>> in_options("Set modularity='order', or choose another method.")
    'Set --modularity order, or choose another method.'
    >>> in_options("The 'max_parents' parameter of DagPosterior must be an int in [0, 12]. Got 99 instead.")
    '--max-parents must be a whole number from 0 to 12. Got 99 instead.'
    """
    sentence, line, below = message.partition("\n")
    quoted: dict[str, str] = {}

    def set_aside(found: re.Match[str]) -> str:
        if _WORD.fullmatch(found[1] or found[2] or "-"):
            return found[0]
        place = f"\0{len(quoted)}\0"
        quoted[place] = found[0]
        return place

    sentence = _in_options(_QUOTED.sub(set_aside, sentence))
    return _PLACE.sub(lambda found: quoted.get(found[0], found[0]), sentence) + line + below


def _in_options(message: str) -> str:
    for python, words in _PYTHON:
        message = message.replace(python, words)
    for pattern, words in (*_CALLS, *_HEADS):
        message = pattern.sub(words, message)
    message = _METHOD_MUST.sub(lambda found: f"{_method_name(found[2])}:{found[1]} must be ", message)
    message = _METHOD_OBJECT.sub(
        lambda found: f"--method {_method_name(found[1])}:{found[2].replace(' ', '')}", message
    )
    message = _SETTING.sub(lambda found: f"{_OPTIONS[found[1]]} {found[2] or found[3]}", message)
    message = _MUST.sub(lambda found: f"{found[1]}{_OPTIONS[found[2]]} must be {found[3]}. Got ", message)
    message = _OBJECT.sub(_object_in_words, message)
    for pattern, words in _KINDS:
        message = pattern.sub(words, message)
    message = _DIFFERS.sub(lambda found: f"{found[1]}{_OF_RUNS[found[2]]}: ", message)
    return _COLUMN.sub(lambda found: f"{found[1]}{_OPTIONS[found[2]]} names ", message)


def _object_in_words(found: re.Match[str]) -> str:
    """`is BDeu(equivalent_sample_size=1.0) there` is `is bdeu (equivalent sample size 1.0) there`."""
    before, kind, settings = found[1], found[2], found[3].replace("=", " ").replace("_", " ")
    name = _method_name(kind.removesuffix("Prior")) if kind.endswith(_LONG_NAMES) else kind.lower()
    return f"{before} {name} ({settings}) " if settings else f"{before} {name} "


def _method_name(kind: str) -> str:
    """`PartitionMCMC` is `partition-mcmc`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


def plain_complaint(message: str, arguments: Sequence[str], options: Sequence[str]) -> str:
    """What the reader of the command line says of a value, without the words of its libraries.

    >>> words = "Input should be a valid integer, unable to parse string as an integer"
    >>> plain_complaint(words, ["t.csv", "--seed", "x"], ["--seed"])
    "'x' is not a whole number."
    >>> plain_complaint("'x' is not a valid integer.", ["t.csv", "--seed", "x"], ["--seed"])
    "'x' is not a whole number."
    """
    message = message.removeprefix("Value error, ")
    for kind, words in (("integer", "a whole number"), ("number", "a number"), ("float", "a number")):
        if f"valid {kind}" in message:
            value = _value_of(options, arguments)
            return f"This is not {words}." if value is None else f"{value!r} is not {words}."
    return message


def _value_of(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """What was given for an option, where that can be told."""
    for place, word in enumerate(arguments):
        for option in options:
            if word == option and place + 1 < len(arguments):
                return arguments[place + 1]
            glued = f"{option}=" if option.startswith("--") else option
            if word.startswith(glued) and word != option:
                return word.removeprefix(glued)
    return None


def printable_lines(text: str) -> str:
    """Text from the data without anything that a terminal would obey, line breaks kept."""
    return "\n".join(printable(line) for line in text.split("\n"))
