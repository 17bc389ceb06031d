"""Rules on PFC, ECN, buffers, priorities and deadlock."""
