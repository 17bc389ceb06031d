"""Scenario of a simulation of congestion: the content of a SCENARIO.yaml."""
