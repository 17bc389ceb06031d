"""Rules on cabling, addresses, routing and management."""
