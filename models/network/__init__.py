"""A whole network: switches, servers, exits, and where each value came from."""
