"""Load YAML files as a Fabric, its profiles and its hardware facts."""
