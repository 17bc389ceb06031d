"""How a network operating system writes a Device: one module or package per system."""
