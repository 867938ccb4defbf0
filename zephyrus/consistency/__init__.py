"""Whether a policy's reasoning leads to its answer: rewards, judges and analysis (Weather-R1).

`zephyrus.consistency.question` is what is asked, `response` what a policy wrote, `judge` who reads
the reasoning, `rewards` what it is worth, `contradiction` and `selfcontra` what a run shows.
"""
