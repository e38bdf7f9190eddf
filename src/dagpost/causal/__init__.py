"""What would happen to one variable if others were set? Effects and their parts, averaged over graphs."""

from __future__ import annotations

from dagpost.causal.effects import effect as effect
from dagpost.causal.results import Effect as Effect
from dagpost.causal.results import EffectPart as EffectPart
