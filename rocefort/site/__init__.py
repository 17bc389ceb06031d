"""Site: its repository, connections and settings, and JSON Schemas of documents and outputs."""
