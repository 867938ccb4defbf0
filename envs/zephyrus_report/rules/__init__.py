"""A judge without a model: typed claims out of any discussion, compared by rules.

The way of a text: `text` (sentences) → `mentions` (subjects, numbers, places and times of a
sentence; `lexicon`, `quantities`, `places`, `times`) → `binding` (what belongs to what) →
`statements`, `hazards`, `extract` (typed claims) → `compare`, `decide` (what a text says about a
claim) → `rubric_score`, `judge`. `typed` and `time_words` put a claim into words and read it back.
Of a text the first 4,000 words are read (`text.shortened`).

What the rules can't see:

* what their lexicon lacks: other words, other languages, hazards of sea and air traffic;
* pronouns, and what a sentence takes over from the one before (only headings are carried on);
* what follows from physics without being said, and whether a stated cause is good physics: a cause
  fits if the reference has that feature;
* which of two places of one name is meant, and more of "north of Iceland" than Iceland;
* local time: "6 PM EST" is read as 18 UTC;
* importance: hazards weigh by kind and number, all else by how often it is said in other words;
* style, structure and usefulness;
* skill from luck: what is usual for the region and month is often right, and earns what the
  baselines earn.

So its scores tell reports that follow the reference from those that don't; they are no measure of
how well a discussion is written, and can't be compared with another judge's.
"""

from zephyrus_report.rules.judge import RulesJudge

__all__ = ["RulesJudge"]
