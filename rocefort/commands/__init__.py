"""Commands by subject; `tasks.py` has the commands of a fabric and assembles the command line."""
