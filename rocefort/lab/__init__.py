"""A fabric to rehearse on: CloudEngine command lines over SSH, and the servers beside them."""
