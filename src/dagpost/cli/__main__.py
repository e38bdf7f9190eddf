"""`python -m dagpost.cli` is the `dagpost` command."""

from dagpost.cli import main

main()
