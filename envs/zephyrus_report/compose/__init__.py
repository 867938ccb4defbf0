"""Discussions composed from fields: what they show (findings), and how it is said (wording).

The way of one discussion: `scene` chooses the named areas of a region and gives their numbers, the
`detect_*` modules turn fields into `Finding`s, `plan` chooses the ones that matter (with their
`cause`, and the `hazards` among them), `wording` says each in a sentence, `compose` joins them.
"""
