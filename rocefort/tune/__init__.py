"""`tune`: a packet simulator of congestion, and searches for thresholds over it."""
