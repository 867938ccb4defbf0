"""Facts of a chart: ⟨region, element⟩ pairs worked out from its grid, each with its margin."""
