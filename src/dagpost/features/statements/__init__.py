"""The statements about a DAG, one file each; `registry.py` lists them."""
