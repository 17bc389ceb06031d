"""The twin: a fabric on one Linux machine, every switch a namespace with FRR, every cable real."""
