"""A page for a colleague: one HTML file that loads nothing."""
