"""Facts of switch models, line cards, syntax families and transceivers."""
