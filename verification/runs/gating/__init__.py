"""Gates on their way through a sandbox: planned, run or known from before, shown, and kept."""
