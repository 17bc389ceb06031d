"""`rehearse`: a sealed plan runs on a twin of its fabric before its approval."""
