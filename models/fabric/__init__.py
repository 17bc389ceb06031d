"""Intent: the content of `fabric.yaml` and of named profiles, as frozen models."""
