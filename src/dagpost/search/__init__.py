"""Searching for single graphs of large weight."""
