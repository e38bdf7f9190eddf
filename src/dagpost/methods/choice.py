"""Which method is meant, and is it the right one for the posterior that is asked for?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import text
from dagpost._tools.mixture import value_text
from dagpost._tools.spelling import either, parameter, setting
from dagpost._tools.text import shown
from dagpost.errors import InputError, ResourceError
from dagpost.methods.base import Method
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.partial_order_mcmc import PartialOrderMCMC
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES, Target

if TYPE_CHECKING:
    from dagpost._tools.mixture import Mixture
    from dagpost.engines import Engine
    from dagpost.posterior.workspace import Workspace

#: The setting that leaves the choice to us.
AUTO = "auto"
AS_ASKED = "as asked"
#: How the command line sets what may be averaged over.
_OPTIONS = {"equivalent sample size": "--ess ", "edge density": "--prior edge:"}
#: The sums over all graphs are not started unasked when they would take longer than this.
PATIENCE_SECONDS = 600.0


def resolve_method(method: Any) -> Method | None:
    """The method that a name or an object stands for; None where the choice is left to us.

    >>> resolve_method("order-mcmc")
    OrderMCMC(chains=4, thinning=20, burn_in=20000)
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and method == AUTO:
        return None
    if isinstance(method, str) and method in METHODS.names():
        kind = METHODS.named(method)
        try:
            return kind()
        except TypeError:
            raise InputError(f"The method {method!r} needs settings: give an object, {kind.__name__}(...).") from None
    hint = f" Make an object of it: {method.__name__}()." if isinstance(method, type) else ""
    known = ", ".join(map(repr, [AUTO, *METHODS.names()]))
    raise InputError(
        f"{parameter('method', 'DagPosterior')} must be one of {known}, or an object such as BlockGibbs(chains=8). "
        f"Got {shown(method)} instead.{hint}"
    )


def check_modularity(method: Method | None, modularity: str) -> None:
    """Refuse a method that samples the other posterior."""
    own = None if method is None else method.modularity
    if own is not None and own != modularity:
        raise InputError(
            f"The method {method and method.name!r} samples the {own}-modular posterior. Set "
            f"{setting('modularity', own)}, or choose another method."
        )


def check_averaging(
    axes: Sequence[Mixture[Any]], method: Method | None, nodes: int, max_parents: int, engine: Engine
) -> None:
    """Refuse to average over settings where the exact evidence of their values is out of reach."""
    from dagpost.engines.host.backend import backend_of

    if not axes:
        return
    if method is not None and not method.mixes:
        why = f"which the method {method.name!r} does not have"
    elif scores_candidates_only(method, nodes, max_parents, engine) or (
        method is None and not backend_of(engine).order_fits(nodes, min(max_parents, nodes - 1))
    ):
        why = f"and {nodes} variables are too many for that"
    else:
        return
    raise _no_average(axes, method, why)


def check_sums(axes: Sequence[Mixture[Any]], method: Method | None, modularity: str, workspace: Workspace) -> None:
    """Refuse fixed weights where what all graphs of a kind of model weigh would not be summed."""
    if axes[0].fixed and modularity == "structure" and (method is None or not method.needs_graphs):
        own_target = method is not None and method.modularity is None
        if not (own_target or workspace.structure_is_affordable()):
            raise _no_average(axes, method, f"and sums over all graphs of {workspace.nodes} variables take too long")


def _no_average(axes: Sequence[Mixture[Any]], method: Method | None, why: str) -> InputError:
    """The error where the values of settings cannot be weighed, with what to choose instead."""
    way_out = "fewer columns" if method is None or method.mixes else "another method"
    averaged = " and ".join(axis.setting for axis in axes)
    # One in the middle: the ends of a grid are there to be unlikely.
    places = [(len(axis.values) - 1) // 2 for axis in axes]
    python = " and ".join(repr(axis.choices[place]) for axis, place in zip(axes, places, strict=True))
    options = " and ".join(_as_option(axis, place) for axis, place in zip(axes, places, strict=True))
    sums = "exact sums over all graphs under" if axes[0].fixed else "the exact evidence of"
    return InputError(
        f"To average over the {averaged} takes {sums} each value, {why}. Choose "
        f"{'one' if len(axes) == 1 else 'one of each'}, such as {either(python, options)}, and compare a few; or use "
        f"{way_out}."
    )


def _as_option(axis: Mixture[Any], place: int) -> str:
    """One value of a setting, as it is given on the command line."""
    if axis.fixed:
        return f"--score {axis.choices[place].name}"
    written = _OPTIONS.get(axis.setting)
    return repr(axis.choices[place]) if written is None else f"{written}{value_text(axis.values[place])}"


def choose_method(method: Method | None, modularity: str, workspace: Workspace) -> tuple[Method, str]:
    """The method that is meant, and in a few words why."""
    from dagpost.methods.dds import DDS
    from dagpost.methods.exact_layers import ExactLayers
    from dagpost.methods.linear_extensions import LinearExtensions

    if method is not None:
        return method, AS_ASKED
    if workspace.by_components and workspace.structure_is_affordable():
        return ExactLayers(), f"independent graphs from the posterior itself; {workspace.by_components}"
    if not workspace.order_fits():
        chain = BlockGibbs() if modularity == "structure" else PartialOrderMCMC()
        return chain, f"tables over all sets of {workspace.nodes} variables do not fit into memory"
    if modularity == "order":
        return DDS(), "independent graphs from the order-modular posterior"
    if workspace.structure_is_affordable():
        return ExactLayers(), "independent graphs from the posterior itself"
    return LinearExtensions(), (
        f"the sums over all graphs of {workspace.nodes} variables would take over {PATIENCE_SECONDS / 60:.0f} minutes "
        "or more memory than is free"
    )


def scores_candidates_only(method: Method | None, nodes: int, max_parents: int, engine: Engine) -> bool:
    """Whether to score only the parent sets among candidates; what cannot fit is refused before any work."""
    from dagpost.engines.host.backend import backend_of
    from dagpost.families.family_sums import MOST_FAMILIES
    from dagpost.families.numbering import MAX_NODES, family_count

    limit = min(max_parents, nodes - 1)
    if method is not None:
        require_room(method, nodes, limit, engine)
    if nodes > MAX_NODES:
        return True
    if method.needs_orders if method is not None else backend_of(engine).order_fits(nodes, limit):
        return False
    return nodes * family_count(nodes - 1, limit) > MOST_FAMILIES


def require_room(method: Method, nodes: int, max_parents: int, engine: Engine) -> None:
    """Refuse what a method cannot hold in memory, and name one that can."""
    try:
        method.check_room(nodes, max_parents, engine)
    except ResourceError as error:
        chain = PartialOrderMCMC if method.modularity == "order" else BlockGibbs
        raise ResourceError(f"{error.marked} For instance: {setting('method', chain.name)}.") from None


def target_named(name: str) -> Target:
    """The target of that name with its words; one that nobody has brought has its name for words.

    >>> target_named("order").words
    'each graph counted once for every order it fits'
    """
    if isinstance(name, Target):
        return name
    name = text(name, "target", None, allowed="the name of what is counted, such as 'structure'")
    if name in MODULARITIES:
        return MODULARITIES[name]
    known = (target for kind in METHODS.classes().values() for target in kind.targets())
    return next((target for target in known if target == name), Target(name))
