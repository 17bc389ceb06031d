"""The commands by what they are for; `tasks.py` has those that judge and puts all together."""
