"""Rules: one module an area, one function a rule; all modules here are scanned."""
