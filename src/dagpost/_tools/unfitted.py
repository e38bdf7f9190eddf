"""The error of a model that was asked too early; scikit-learn, which wants to recognise it, is loaded with it."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from dagpost.errors import InputError


class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]
    """A model was asked before it was fitted."""
