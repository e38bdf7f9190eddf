"""Which number has a parent set, and what do the parent sets inside a set of nodes weigh together?"""
