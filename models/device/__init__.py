"""Configuration of one switch as its text has it, free of vendor syntax."""
