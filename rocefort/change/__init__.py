"""Changes of a fabric: what changes, what it touches, and how it is made safely."""
