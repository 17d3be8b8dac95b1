"""What is built and tried of a workspace, by which commands, and what came of it. Pure: running is a port's part."""
