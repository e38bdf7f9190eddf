"""Toys that plug into dagpost from outside: nothing in dagpost knows them."""
