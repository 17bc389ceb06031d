"""Effects of a change: objects, sessions, traffic, cable ends, and the management path."""
