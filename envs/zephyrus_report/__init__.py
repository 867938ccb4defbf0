"""Stage 2: forecast discussions, written with tools and judged against a reference."""
