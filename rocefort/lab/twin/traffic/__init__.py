"""Traffic in a twin: pings, traces, flows and RoCE probes."""
