"""Arguments that are not what they must be are refused in one form: what it is, what is allowed, what came.

    The 'max_parents' parameter of DagPosterior must be an int in [0, 12]. Got 'five' instead.

True and False are not numbers here, though Python takes them for some.
"""

from __future__ import annotations

import errno
import inspect
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.spelling import either, parameter
from dagpost._tools.text import shortened_text, shown
from dagpost.errors import DagpostError, InputError

_TRUTH: Any = (bool, np.bool_)

#: What the numbers of compiled code reach; nothing can be counted that far.
_MOST = 2**62

#: Names that no file can have, that lead round in circles, or into a folder that is closed to this user.
_IMPOSSIBLE = frozenset((errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EACCES))


def whole_number(
    value: object,
    name: str,
    owner: str | None = None,
    *,
    least: int = 1,
    most: int | None = None,
    optional: bool = False,
    hint: str = "",
) -> int:
    """`value` as an int from `least` to `most`; `optional` says that None is allowed, and checked elsewhere.

    >>> whole_number(5, "max_parents", "DagPosterior", least=0, most=12)
    5
    """
    if isinstance(value, Integral) and not isinstance(value, _TRUTH):
        found = int(value)
        if least <= found <= (_MOST if most is None else most):
            return found
        if most is None and found > _MOST:
            most = _MOST
    if most is None:
        allowed = either(f"an int of at least {least}", f"a whole number of at least {least}")
    else:
        allowed = either(f"an int in [{least}, {most}]", f"a whole number from {least} to {most:,}")
    raise refusal(value, name, owner, f"{allowed}{either(', or None', '') if optional else ''}", hint)


def number(
    value: object,
    name: str,
    owner: str | None = None,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    allowed: str = "a finite number",
    hint: str = "",
) -> float:
    """`value` as a finite float within bounds, which `allowed` puts into words.

    >>> number(0.5, "probability", "EdgePrior", above=0.0, below=1.0)
    0.5
    """
    if is_finite(value):
        found = float(value)  # type: ignore[arg-type]
        if above < found < below and least <= found <= most:
            return found
    raise refusal(value, name, owner, allowed, hint)


#: Numbers beyond are refused where they are calculated with: their squares, in any unit, stay within a float.
LARGEST = 1e100


def is_finite(value: object) -> bool:
    """Whether this is a number that a float can hold; True and False are not."""
    try:
        return isinstance(value, Real) and not isinstance(value, _TRUTH) and math.isfinite(value)
    except (OverflowError, TypeError, ValueError):
        return False


def one_of(value: Any, name: str, known: Iterable[str], owner: str | None = None) -> str:
    """`value` if it is one of some words.

    >>> one_of("order", "modularity", ("structure", "order"))
    'order'
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    allowed = either(f"one of {', '.join(map(repr, words))}", f"one of {', '.join(words)}")
    raise refusal(value, name, owner, allowed)


def truth(value: object, name: str, owner: str | None = None, *, optional: bool = False) -> bool | None:
    """`value` as True or False, or None where that is allowed; what only counts as true or false is not enough.

    >>> truth(True, "legend", "graph")
    True
    """
    if isinstance(value, _TRUTH) or (optional and value is None):
        return None if value is None else bool(value)
    raise refusal(value, name, owner, f"True or False{', or None' if optional else ''}")


def text(value: object, name: str, owner: str | None = None, *, allowed: str = "text") -> str:
    """`value` if it is a text that can be written to a file or a screen."""
    if isinstance(value, str) and is_writable(value):
        return str(value)
    raise refusal(value, name, owner, allowed)


def is_writable(value: str) -> bool:
    """Whether a text can be written as UTF-8: halves of characters (surrogates) cannot."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def texts(value: object, name: str, owner: str | None = None, *, allowed: str = "a list of names") -> tuple[str, ...]:
    """Several texts, such as the names of variables; one text alone is not several.

    >>> texts(["A", "B"], "names")
    ('A', 'B')
    """
    found = members(value, name, owner, allowed=allowed)
    if all(isinstance(one, str) for one in found):
        return found
    raise refusal(value if not isinstance(value, Iterable) else found, name, owner, allowed)


def different_texts(value: object, name: str, owner: str | None = None) -> tuple[str, ...]:
    """Names that differ, at least one."""
    found = texts(value, name, owner)
    if not found:
        raise refusal(value, name, owner, "a list of at least one name")
    twice = [one for one, times in Counter(found).items() if times > 1]
    if twice:
        raise InputError(
            f"{parameter(name, owner)} must be a list of different names. {shown(twice[0])} comes more than once."
        )
    return found


def members(value: object, name: str, owner: str | None = None, *, allowed: str = "a list") -> tuple[Any, ...]:
    """What a list, a tuple, an array or any other iterable holds; a text, a mapping or a frame is not a list."""
    listed = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    if listed and getattr(value, "ndim", 1) == 1:
        return tuple(value)  # type: ignore[arg-type]
    raise refusal(value, name, owner, allowed)


def floats(value: object, name: str, owner: str | None, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """`value` as an array of floats of a shape, in which None stands for any length."""
    found = value if isinstance(value, np.ndarray) else None
    if found is not None and found.dtype.kind in "fiu" and fits_shape(found, shape):
        return np.asarray(found, dtype=np.float64)
    raise array_refusal(value, name, owner, f"an array of numbers of shape {_shape_text(shape)}")


def fits_shape(array: NDArray[Any], shape: tuple[int | None, ...]) -> bool:
    """Whether an array has a shape, in which None stands for any length."""
    return array.ndim == len(shape) and all(
        wanted in (None, came) for wanted, came in zip(shape, array.shape, strict=True)
    )


def array_refusal(value: object, name: str, owner: str | None, allowed: str) -> InputError:
    """As `refusal`; of an array that does not fit, its kind of numbers and its shape say why."""
    if not isinstance(value, np.ndarray):
        return refusal(value, name, owner, allowed)
    came = f"an array of {value.dtype} of shape {value.shape}"
    return InputError(f"{parameter(name, owner)} must be {allowed}. Got {came} instead.")


def _shape_text(shape: tuple[int | None, ...]) -> str:
    lengths = ", ".join("any" if length is None else str(length) for length in shape)
    return f"({lengths}{',' if len(shape) == 1 else ''})"


def kind(value: object, name: str, wanted: type | tuple[type, ...], allowed: str, owner: str | None = None) -> Any:
    """`value` if it is an object of a class of ours."""
    if isinstance(value, wanted):
        return value
    raise refusal(value, name, owner, allowed)


def has_method(value: object, name: str, method: str, allowed: str) -> None:
    """Refuse an object that cannot do what is asked of it."""
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise refusal(value, name, None, allowed)


def file_path(value: object, name: str = "path", owner: str | None = None) -> Path:
    """`value` as the path of a file or folder that there could be.

    >>> file_path("model.dagpost").name
    'model.dagpost'
    """
    given = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if isinstance(given, str) and given and "\0" not in given:
        try:
            os.lstat(given)
        except UnicodeEncodeError:
            raise refusal(value, name, owner, "the name of a file, without halves of characters") from None
        except OSError as error:
            if error.errno in _IMPOSSIBLE:
                raise InputError(f"Cannot use the path {shown(given)}: {error.strerror}. Name another.") from error
        return Path(given)
    raise refusal(value, name, owner, "the name of a file, as text or a pathlib.Path")


def callable_with(value: object, name: str, owner: str | None, *examples: object, written: str) -> Callable[..., Any]:
    """`value` if it can be called with such arguments; `written` shows how it is called."""
    if not callable(value):
        raise refusal(value, name, owner, f"callable as {written}")
    try:
        inspect.signature(value).bind(*examples)
    except ValueError:
        # A function that does not say what it takes.
        return value
    except TypeError:
        raise refusal(value, name, owner, f"callable as {written}", "It takes other arguments.") from None
    return value


def ask_user(what: str, function: Callable[..., Any], *arguments: object) -> Any:
    """What a function of the user's returns; where it fails, an error that names it and keeps the cause."""
    try:
        return function(*arguments)
    except DagpostError:
        raise
    except Exception as error:
        raise InputError(f"{what} failed with {type(error).__name__}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    try:
        said = shortened_text(str(error)).strip()
    except Exception:  # noqa: BLE001
        said = ""
    return f"{said or 'it says no more'}{'' if said.endswith(('.', '!', '?')) else '.'}"


def seed_number(seed: object) -> int | None:
    """A seed: an int of at least 0, or None for a new one each time."""
    if seed is None or (isinstance(seed, Integral) and not isinstance(seed, _TRUTH) and int(seed) >= 0):
        # However large: it is only stirred into the state of a generator.
        return None if seed is None else int(seed)
    return whole_number(seed, "seed", least=0, optional=True)


def refusal(value: object, name: str, owner: str | None, allowed: str, hint: str = "") -> InputError:
    """The error for an argument: what it is, what is allowed, what came, and perhaps what to do."""
    return InputError(f"{parameter(name, owner)} must be {allowed}. Got {shown(value)} instead.{hint and f' {hint}'}")
