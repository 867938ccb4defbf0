"""Curricula: recipes, their stages, and the scheduler that takes a policy through them."""
