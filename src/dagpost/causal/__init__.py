"""What would happen to one variable if another were set? Total causal effects, averaged over graphs."""

from __future__ import annotations

from dagpost.causal.effects import causal_effect as causal_effect
from dagpost.causal.effects import causal_effects as causal_effects
from dagpost.causal.effects import interventional_probabilities as interventional_probabilities
from dagpost.causal.results import CausalEffect as CausalEffect
