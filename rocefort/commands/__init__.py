"""Commands by subject; `tasks.py` assembles the command line."""
