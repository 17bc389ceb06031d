"""Interpreter of typed commands: their effect on a configuration."""
