"""Evaluation of saved runs: judges over the texts of a run, means with intervals, leaderboards.

`evaluate` asks judges and keeps every judgement in the run folder (``judgements.jsonl``), and the
numbers beside them (``evaluation.json``). `read_evaluation` makes the numbers of kept judgements
again, `Evaluation.against` compares two runs, `zephyrus.evaluation.leaderboard` orders many.
"""

from zephyrus.evaluation.evaluations import aevaluate, evaluate, read_evaluation
from zephyrus.evaluation.result import Evaluation, JudgeResult
from zephyrus.evaluation.scores import Score

__all__ = ["Evaluation", "JudgeResult", "Score", "aevaluate", "evaluate", "read_evaluation"]
