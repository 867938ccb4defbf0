"""What people look at: runs and rollouts in the terminal, and pages for the browser."""
