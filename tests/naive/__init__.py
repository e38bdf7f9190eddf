"""Slow, obvious twins of every fast path."""
