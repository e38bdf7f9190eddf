"""What a report says of directions: how many the data compel, how many are rules or the model, and how many are open.

What the user decided is never called a finding, and what the data cannot tell is never given a direction.
"""

from __future__ import annotations

from dagpost._tools.text import printable
from dagpost.posterior.directions import BY_MODEL, about_cuts
from dagpost.posterior.knowledge import TARGETS_UNKNOWN
from dagpost.posterior.pair_direction import FOUND, PairDirection, Word
from dagpost.report.content import Content
from dagpost.report.words import counted, omitted, provenance_of_part

ARROWS = (
    "A line: one of the two helps to predict the other, beyond all other variables. A filled head: the data compel the "
    "direction, because every graph that fits equally well has it. No head: the data cannot tell. A hollow head: a "
    "rule of yours or the model decided, which is not a finding."
)
INTERVENTIONS = "In some rows variables were set from outside: these rows tell directions, for the variables set."
CAVEAT = (
    "Arrows are causes only if no common cause of two variables is left out, and nobody was selected by what is "
    "studied."
)
#: Pairs that are named in a sentence.
_NAMED = 3


def arrows(content: Content) -> str:
    """What the marks mean."""
    said = ARROWS.replace("a rule of yours", "a rule or an assumption of yours") if content.assumes else ARROWS
    return f"{said} {INTERVENTIONS}" if content.interventions else said


def found(content: Content) -> str:
    """What a reader takes away: how many pairs are joined, the strongest by name, and how many directions are known."""
    pairs = content.directions.pairs(FOUND)
    often = "with a probability" if content.target.posterior else "in a share of the replicates"
    of_all = f"{len(pairs):,} of {counted(int(content.directions.asked.sum()), 'pair')} of variables"
    text = f"{of_all} {'is' if len(pairs) == 1 else 'are'} joined {often} of at least {FOUND:g}"
    text += " under the assumption" if content.given else ""
    if content.trusted is False and not content.exact:
        return f"Not to be trusted yet: {text}."
    text += f"{_strongest(content, pairs)}."
    if not pairs:
        return text
    if content.target.posterior and content.target.directions:
        return f"{text} {content.target.directions}"
    if not content.directions.computed:
        return f"{text} Which way they point was not computed; the section on pairs says why."
    if content.trusted is False:
        return f"{text} Their directions come from chains that are not to be trusted yet."
    return f"{text} {_counts([pair.word for pair in pairs], assumed=content.assumes)}"


def _strongest(content: Content, pairs: list[PairDirection]) -> str:
    """The most probable pairs by name, where these are few of many."""
    if len(pairs) <= 1:
        return "" if not pairs else f": {_named(content, pairs[0])}"
    shown = [_named(content, pair) for pair in pairs[:_NAMED]]
    return f", above all {', '.join(shown[:-1])} and {shown[-1]}"


def _named(content: Content, pair: PairDirection) -> str:
    first, second = (printable(content.names[place]) for place in (pair.source, pair.target))
    return f"{first} {pair.mark()} {second}"


def caveat(content: Content) -> str:
    """What the directions rest on; where the user has rules, that the data did not pick among all graphs."""
    parts = [CAVEAT]
    if content.directions.fixed.any():
        parts.append(BY_MODEL)
    if content.assumes and content.directions.computed:
        parts.append(
            "Only graphs in which your assumption holds, and that your rules allow, were considered: without these "
            "some directions may be open."
        )
    elif content.directions.settled.any() and content.directions.computed:
        parts.append(
            "Only graphs that your rules allow were considered: without your rules some directions may be open."
        )
    return " ".join(parts)


def _counts(words: list[Word], *, assumed: bool = False) -> str:
    """How many directions the data decide, how many are decided by rules, and how many are open."""
    kinds: tuple[Word, ...] = ("clear", "leaning", "rules", "model", "open")
    clear, leaning, ruled, fixed, undecided = (words.count(word) for word in kinds)
    text = f"The data make the direction clear for {clear or 'none'} of them"
    if leaning:
        text += f", lean to one for {leaning}"
    text += f"{',' if leaning else ''} and leave it open for {undecided or 'none'}."
    if ruled:
        text += f" For {ruled} your rules {'or assumptions ' if assumed else ''}decide it."
    if fixed:
        text += f" For {fixed} it follows from the model."
    return text


def about_pairs(content: Content) -> str:
    """What the numbers of the table of pairs are, and what those of directions rest on."""
    known = provenance_of_part(content, content.exact, averaged=True)
    text = f"“Joined”: an edge between the two, either way. {known}"
    if content.target.posterior and content.target.directions:
        text += f" {content.target.directions}"
    if not content.directions.computed:
        return text if content.sample is not None else f"{text} {omitted(content, 'directions')}"
    remarks = " ".join(filter(None, [content.directions.note, about_cuts(content.directions, content.recipe)]))
    drawn = f" {provenance_of_part(content, False)}" if content.exact or content.gaps else ""
    return (
        f"{text} “Compelled”: every graph that fits the data equally well has this direction; “reversible”: the data "
        f"cannot tell it.{drawn} {remarks}"
    ).rstrip()


def about_classes(content: Content) -> str:
    """What graphs of one class have in common."""
    told = "data that were only observed"
    if content.interventions:
        unknown = TARGETS_UNKNOWN in content.directions.note
        told = "rows in which nothing was set" if unknown else "these data, with all that was set,"
    rules = ""
    if content.directions.settled.any():
        what = "rules and assumptions" if content.assumes else "rules"
        one = "rule or an assumption" if content.assumes else "rule"
        rules = f" Classes keep your {what}: a direction may follow from a {one} and not from the data."
    if content.directions.fixed.any():
        rules += f" {BY_MODEL}"
    return f"Graphs of one class cannot be told apart by {told}; — is an edge whose direction differs within it.{rules}"
