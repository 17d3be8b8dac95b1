"""The client side: a folder goes out, a verdict comes back. Knows the HTTP contract alone."""
