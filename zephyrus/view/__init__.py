"""What people look at: the terminal view of runs and rollouts."""
