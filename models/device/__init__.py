"""Device: the content of one switch configuration, without vendor syntax."""
