"""From a Fabric to a Network: checks of the intent, and every part of a Device."""
