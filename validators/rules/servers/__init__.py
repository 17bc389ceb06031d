"""Rules on servers: their NICs, settings and tuning."""
