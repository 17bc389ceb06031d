"""Access to switches and servers through Nornir, with strict host keys and masked secrets."""
