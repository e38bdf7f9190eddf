"""What scikit-learn asks of an estimator, without loading scikit-learn before it asks.

scikit-learn works with any object that has `get_params`, `set_params` and `__sklearn_tags__`: pipelines, `clone`, grid
searches and its own checks of estimators do not ask for its `BaseEstimator`. That class brings SciPy's statistics and
pandas along, which takes longer than most answers of a stored model. Metadata routing, which only scikit-learn can do,
is asked of an object of its own with the same attributes.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any, Self, TypeVar, cast

from dagpost._tools.text import nearest, shown
from dagpost.errors import InputError

Method = TypeVar("Method", bound=Callable[..., Any])


def requests_of(method: str) -> Callable[..., Any]:
    """The way to say which arguments of a method pipelines and searches hand on."""

    def set_request(self: Any, **requests: bool | str | None) -> Any:
        """Say which arguments pipelines and searches hand on, with scikit-learn's metadata routing."""
        getattr(_router(self), f"set_{method}_request")(**requests)
        return self

    return set_request


class Estimator:
    """A class whose settings are the parameters of `__init__`, each kept as it came in an attribute of its name."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(_usual_settings(cls))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; with `deep`, also those of settings that are estimators, as ``setting__of_it``."""
        settings = {name: getattr(self, name) for name in self._get_param_names()}
        nested = {name: value for name, value in settings.items() if deep and _has_settings(value)}
        inner = {f"{name}__{own}": item for name, value in nested.items() for own, item in value.get_params().items()}
        return settings | inner

    def set_params(self, **settings: Any) -> Self:
        """Change settings by name, also those of settings that are estimators, as ``setting__of_it``."""
        # Whole settings first: what is within them belongs to the new one.
        for name in sorted(settings, key=lambda name: "__" in name):
            setting, _, inner = name.partition("__")
            if setting not in _usual_settings(type(self)):
                known = nearest(setting, self._get_param_names())
                raise InputError(f"{type(self).__name__} has no setting {shown(setting)}.{known}")
            if inner:
                whole = getattr(self, setting)
                if not _has_settings(whole):
                    raise InputError(f"{name!r} cannot be set: {setting!r} is {shown(whole)}, which has no settings.")
                whole.set_params(**{inner: settings[name]})
            else:
                setattr(self, setting, settings[name])
        return self

    def get_metadata_routing(self) -> Any:
        """Which arguments of its methods scikit-learn hands on to it, in scikit-learn's own record."""
        return _router(self).get_metadata_routing()

    set_fit_request = requests_of("fit")

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def __dir__(self) -> list[str]:
        """The attributes that are there: not those that only a fit brings, nor methods that are not available."""
        return [name for name in super().__dir__() if hasattr(self, name)]

    def settings_text(self, longest: int = 700) -> str:
        """The settings that differ from the usual ones, in about `longest` characters."""
        usual = _usual_settings(type(self))
        given = {name: repr(getattr(self, name)) for name in self._get_param_names()}
        changed = [f"{name}={text}" for name, text in given.items() if text != repr(usual[name])]
        written = f"{type(self).__name__}({', '.join(changed)})"
        return written if len(written) <= longest else f"{written[: longest // 2]}...{written[-longest // 2 :]}"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return self.settings_text(N_CHAR_MAX)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows."""
        return {"text/plain": repr(self), "text/html": f"<pre>{html.escape(repr(self))}</pre>"}

    def _repr_html_(self) -> str:
        """The same for readers that know no bundles."""
        return self._repr_mimebundle_()["text/html"]


class Transformer(Estimator):
    """An estimator that makes something of a table."""

    def fit_transform(self, X: Any, y: Any = None, **arguments: Any) -> Any:
        """`fit`, with its arguments, and then `transform`."""
        fitted: Any = self
        return fitted.fit(X, y, **arguments).transform(X)

    set_transform_request = requests_of("transform")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """A method that an object has only where `check` says so: pipelines and scorers look for it by `hasattr`."""

    def decorate(method: Method) -> Method:
        return cast("Method", _Conditional(method, check))

    return decorate


class _Conditional:
    def __init__(self, method: Callable[..., Any], check: Callable[[Any], bool]) -> None:
        self._method, self._check, self.__doc__ = method, check, method.__doc__

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self._method
        if not self._check(instance):
            raise AttributeError(f"This {owner.__name__} has no {self._method.__name__}.")
        return MethodType(self._method, instance)


def _usual_settings(cls: type) -> dict[str, Any]:
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    return {parameter.name: parameter.default for parameter in parameters}


def _has_settings(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _router(estimator: Estimator) -> Any:
    """An object of scikit-learn's with the same arguments of its methods: what is set on it is set on this one."""
    from sklearn.base import BaseEstimator

    cls = type(estimator)
    methods = {name: getattr(cls, name) for name in ("fit", "predict_proba", "transform") if hasattr(cls, name)}
    router: Any = object.__new__(type(cls.__name__, (BaseEstimator,), methods))
    router.__dict__ = estimator.__dict__
    return router
