"""Derive a Network from a Fabric: checks of the intent, and every part of a Device."""
