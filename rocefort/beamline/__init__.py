"""Beamlines of a facility: `beamline list`, `beamline show`, `beamline add`."""
