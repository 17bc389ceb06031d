"""Advice on a change: its steps in order, and what to take care of."""
