"""What tools report of the work, read from their machine-readable files. Hostile input, all of it."""
