"""From YAML files to a Fabric, its profiles and the hardware that it names."""
