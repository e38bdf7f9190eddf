"""Other people's programs, one adapter a file (`use_TOOL.py`), and what the table says about each (`registry.py`)."""
