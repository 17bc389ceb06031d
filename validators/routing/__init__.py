"""The embedded routing engine: sessions, routes, forwarding and reachability."""
