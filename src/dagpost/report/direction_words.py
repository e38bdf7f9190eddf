"""What a report says of directions: how many the data compel, how many are rules or the model, and how many are open.

What the user decided is never called a finding, and what the data cannot tell is never given a direction.
"""

from __future__ import annotations

from dagpost.posterior.directions import BY_MODEL, CLEAR, FOUND, Word, about_cuts
from dagpost.posterior.knowledge import TARGETS_UNKNOWN
from dagpost.report.content import Content
from dagpost.report.words import counted, omitted, provenance_of_part

ARROWS = (
    "A line joins two variables of which one helps to predict the other directly, beyond all the others. A filled head "
    "says that the data compel the direction: it is the same in every graph that fits the data equally well. Where "
    "such graphs differ, the data cannot tell A → B from B → A, and the line has no head. A hollow head is a rule that "
    "was set beforehand, or follows from the model, and is not a finding. An arrow may come from the data alone and "
    "still say nothing of cause and effect: a common cause that was not measured, or a choice of who was observed, "
    "can look like an arrow. To read arrows as causes one has to assume that no common cause is missing and that "
    "nobody was selected by what is studied; whether that holds is a question about the study, not about these "
    "numbers."
)
INTERVENTIONS = (
    "In some rows variables were set from outside; these rows do inform about direction, for the variables that were "
    "set."
)
ASSUMED = (
    "No hidden common causes are assumed, and “compelled” means that the direction is the same in every graph that "
    "fits the data equally well."
)


def arrows(content: Content) -> str:
    """What the marks mean."""
    return f"{ARROWS} {INTERVENTIONS}" if content.interventions else ARROWS


def found(content: Content) -> str:
    """What a reader takes away from the picture: how many pairs are joined, and what is known of their directions."""
    pairs = content.directions.pairs(FOUND)
    often = "with a probability" if content.target.posterior else "in a share of the replicates"
    of_all = f"{len(pairs):,} of {counted(int(content.directions.asked.sum()), 'pair')} of variables"
    text = f"{of_all} {'is' if len(pairs) == 1 else 'are'} joined {often} of at least {FOUND:g}."
    if content.trusted is False and not content.exact:
        return f"Not to be trusted yet: {text}"
    if not pairs:
        return text
    if content.target.posterior and content.target.directions:
        return f"{text} {content.target.directions}"
    if not content.directions.computed:
        return f"{text} Which way they point was not computed; below the graph stands how to have it."
    if content.trusted is False:
        return f"{text} Their directions come from chains that are not to be trusted yet."
    kept = f" {content.sensitivity.directions_kept()}".rstrip() if content.sensitivity else ""
    return f"{text} {_counts([pair.word for pair in pairs], content.target.measure)}{kept} {_assumed(content)}"


def _assumed(content: Content) -> str:
    """What the directions rest on; where the user has rules, that the data did not pick among all graphs."""
    model = f" {BY_MODEL}" if content.directions.fixed.any() else ""
    if not content.directions.settled.any():
        return f"{ASSUMED}{model}"
    return f"{ASSUMED}{model} Only graphs that your rules allow were considered: without your rules some may be open."


def _counts(words: list[Word], measure: str) -> str:
    """How many directions the data compel, how many are decided by rules, and how many are open."""
    kinds: tuple[Word, ...] = ("clear", "leaning", "rules", "model", "open")
    clear, leaning, ruled, fixed, undecided = (words.count(word) for word in kinds)
    most = f"in at least {100 * CLEAR:g}% of the {measure} of being joined"
    parts = [f"The data compel the direction of {clear or 'none'} of these ({most})"]
    if leaning:
        parts.append(f"lean to one for {leaning}")
    text = f"{', '.join(parts)}{',' if leaning else ''} and leave it open for {undecided or 'none'}."
    if ruled:
        text += f" For {ruled} it is decided by your rules, which is not a finding."
    if fixed:
        text += f" For {fixed} it follows from the model, which is not a finding{' either' if ruled else ''}."
    return text


def about_pairs(content: Content) -> str:
    """What the numbers of the table of pairs are, and what those of directions rest on."""
    known = provenance_of_part(content, content.exact, averaged=True)
    text = f"“Joined” is an edge between the two, whichever way. {known}"
    if content.target.posterior and content.target.directions:
        text += f" {content.target.directions}"
    if not content.directions.computed:
        return text if content.sample is not None else f"{text} {omitted(content, 'directions')}"
    remarks = " ".join(filter(None, [content.directions.note, about_cuts(content.directions, content.recipe)]))
    drawn = f" {provenance_of_part(content, False)}" if content.exact or content.gaps else ""
    return (
        f"{text} “Compelled” is an edge whose direction is the same in every graph that fits the data equally well, "
        f"“reversible” one whose direction is not; no hidden common causes are assumed.{drawn} "
        f"{remarks}"
    ).rstrip()


def about_classes(content: Content) -> str:
    """What graphs of one class have in common."""
    told = "data that were only observed"
    if content.interventions:
        unknown = TARGETS_UNKNOWN in content.directions.note
        told = "rows in which nothing was set" if unknown else "these data, with all that was set,"
    rules = ""
    if content.directions.settled.any():
        rules = " Classes keep your rules: a direction may follow from a rule and not from the data."
    if content.directions.fixed.any():
        rules += f" {BY_MODEL}"
    return (
        f"Graphs of one class allow the same dependences, so {told} cannot tell them apart; — is an edge whose "
        f"direction differs within the class.{rules}"
    )
