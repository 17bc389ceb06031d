"""What a change touches: objects, sessions, traffic, cable ends, and the management path."""
