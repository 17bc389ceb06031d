"""Configuration of a server: the script that sets it, and the reader of its state."""
