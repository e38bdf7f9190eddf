"""A hostile campaign against dagpost that anyone can run: `make torture`, or `python -m torture --help`.

Each module with a `CAMPAIGN` draws random cases of one kind and checks laws that must hold in all of them. `registry`
lists the campaigns, `workers` runs their cases in processes that may crash or hang without harm, `minimise` makes a
failing case smaller, `summary` tells what was found. `oracle` answers by brute force, in plain Python, what dagpost
answers fast; it imports nothing of dagpost.
"""
