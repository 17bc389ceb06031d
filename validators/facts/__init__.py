"""Facts of the domain: pure functions of a network, on ports of RoCE, headroom, speeds, buffers."""
