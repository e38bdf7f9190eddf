"""What would happen to one variable if another were set? Total causal effects, averaged over graphs."""

from __future__ import annotations

from dagpost.causal.effects import causal_effect, causal_effects, interventional_probabilities
from dagpost.causal.results import CausalEffect

__all__ = ["CausalEffect", "causal_effect", "causal_effects", "interventional_probabilities"]
