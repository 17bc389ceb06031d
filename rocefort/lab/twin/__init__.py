"""Twin of a fabric on one Linux machine: a namespace with FRR for each switch, real links."""
