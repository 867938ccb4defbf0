"""`ChartQAEnv`: multiple-choice questions on weather charts, with logically consistent rewards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from zephyrus.consistency.judge import ConsistencyJudge, make_consistency_judge
from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.consistency.response import final_answer, last_said, read_response
from zephyrus.consistency.rewards import (
    FORMATS,
    LOCO,
    RFT,
    Format,
    LocoWeights,
    accuracy_reward,
    format_reward,
    logic_reward,
    read_weights,
)
from zephyrus.env import Script, ToolEnv
from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.loops import run_sync
from zephyrus.messages import Image, Message
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool, World
from zephyrus.trajectory import Trajectory
from zephyrus_chartqa.item import ChartSource, Item
from zephyrus_chartqa.library import load_items
from zephyrus_chartqa.pictures import draw_source, read_picture
from zephyrus_chartqa.prompts import question_prompt, system_prompt
from zephyrus_chartqa.reader import answer
from zephyrus_geodata import Dataset, Forecast, GeodataError, load_dataset

if TYPE_CHECKING:
    from zephyrus_chartqa.bank_report import ChartBankReport

View = Literal["image", "text", "both"]
VIEWS: tuple[View, ...] = get_args(View)
NO_JUDGE = "none"
_PICTURES = 64
"""Charts that are kept: the rollouts of a group, and a judge's batch, ask for the same ones."""


class ChartQAEnv(ToolEnv):
    """Weather-R1's charts: one chart, one question with choices, one message that answers it.

    The reward is the weighed sum of *format* (reasoning in think tags, then a letter in answer
    tags), *logic* (a judge finds that the reasoning supports the answered choice, Eq. 2) and
    *accuracy*. An answer that names no choice is wrong, and counts. When the judge can't be had the
    rollout is kept without rewards, never scored 0.
    """

    name = "chartqa"
    default_limits = Limits(turns=1)
    bank_sizes: ClassVar[dict[str, int]] = {"train": 1400, "validation": 175, "test": 350}
    answer_hint = "Write <think>…</think> and then the letter of one choice in <answer>…</answer>."

    def __init__(
        self,
        *,
        split: str = "test",
        dataset: str | Dataset = "demo",
        bank: str | Path | Iterable[Item] | None = None,
        task: str | None = None,
        view: str = "image",
        judge: str | ConsistencyJudge = "rules",
        judge_url: str | None = None,
        weights: Mapping[str, float] | None = None,
        format: str = "strict",  # noqa: A002 - what users write after -o
        tools: Iterable[Tool | str] = (),
        limits: Limits | None = None,
        compact: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Set the environment up; charts are drawn when an episode begins.

        Args:
            split: Which questions a reset draws from: "train", "validation" or "test".
            dataset: The dataset whose bank ships with the package: a name, a folder, or an open one.
            bank: Items, or where they are: a bank file, or the folder of WeatherQA or ScienceQA.
            task: Only the questions of one kind: a modality such as rain, or null for all.
            view: How the policy sees the chart: "image"; "text", its data in words and numbers,
                which stand in for the picture where a policy has no eyes; or "both".
            judge: Who says what a reasoning concludes: "rules", a model of `zephyrus judge list`,
                openai:MODEL@URL, or "none" for no reward of logic.
            judge_url: Another address for the judge's endpoint.
            weights: Of format, logic and accuracy, which sum to one: by default {format: 0.1,
                logic: 0.3, accuracy: 0.6}, and without a judge {format: 0.1, logic: 0, accuracy:
                0.9}, plain RFT.
            format: "strict", 0 or 1 as in the paper; "graded" gives parts of the format and of the
                accuracy, as the paper's code does.
            tools: Tools to offer, or names of registered ones; by default none.
            limits: Budgets of an episode, by default one turn.
            compact: The short system prompt, for very small models.
            render_mode: None or "ansi".

        Raises:
            UserError: If an option is out of range, or there is no such judge.
        """
        super().__init__(
            split=split, tools=tools, limits=limits, compact=compact, render_mode=render_mode
        )
        if view not in VIEWS:
            raise UserError(f"view is one of {', '.join(VIEWS)}, not {view!r}")
        if format not in FORMATS:
            raise UserError(f"format is one of {', '.join(FORMATS)}, not {format!r}")
        none = isinstance(judge, str) and judge == NO_JUDGE
        self.judge = None if none else make_consistency_judge(judge, base_url=judge_url)
        if weights is not None and not isinstance(weights, Mapping):
            raise UserError("weights is written {format: 0.1, logic: 0.3, accuracy: 0.6}")
        default = RFT if self.judge is None else LOCO
        self.weights: LocoWeights = default if weights is None else read_weights(weights)
        if self.judge is None and self.weights.logic:
            raise UserError("without a judge the weight of logic is 0: name a judge, or change it")
        self.dataset = dataset
        self.bank = bank
        self.task = task
        self.view = view
        self.format: Format = "graded" if format == "graded" else "strict"
        self._judge_url = judge_url
        self._items: tuple[Item, ...] | None = None
        self._folder = Path()
        self._splits: dict[str, TaskSet] = {}
        self._pictures: dict[str, Image] = {}

    def tasks(self, split: str | None = None) -> TaskSet:
        """The questions of a split (the environment's own by default).

        Raises:
            UserError: If there is no such split, bank, or kind of question.
        """
        name = split or self.split
        if name not in self._splits:
            every = TaskSet(map(self._to_task, self._asked()), self._bank_name())
            self._splits[name] = every.split(name)
        return self._splits[name]

    def items(self) -> tuple[Item, ...]:
        """All items of the bank, of every split and kind."""
        if self._items is None:
            self._items, self._folder = load_items(self.bank, self.dataset)
        return self._items

    def world(self, task: Task) -> World:
        """The dataset and forecast that the chart is of; nothing where only its image is known."""
        if not task.world.get("dataset"):
            return {}
        try:
            data = self._data(str(task.world["dataset"]))
            return {Dataset: data, Forecast: data.forecast(str(task.world["forecast"]))}
        except GeodataError as error:
            raise UserError(f"the task {task.id} cannot be set up: {error}") from error

    def images(self, task: Task) -> tuple[Image, ...]:
        """The chart, if it is shown as a picture."""
        if self.view == "text":
            return ()
        if task.id not in self._pictures:
            while len(self._pictures) >= _PICTURES:
                self._pictures.pop(next(iter(self._pictures)))
            self._pictures[task.id] = self._picture(task)
        return (self._pictures[task.id],)

    def describe(self) -> dict[str, Any]:
        """What a run must be repeated and scored again with."""
        data = self.dataset.name if isinstance(self.dataset, Dataset) else str(self.dataset)
        bank: str | None = None
        if isinstance(self.bank, str | Path):
            bank = str(Path(self.bank).resolve())
        elif self.bank is not None:
            bank = "(given in Python)"
        return {
            **super().describe(),
            "dataset": data,
            "bank": bank,
            "task": self.task,
            "view": self.view,
            "judge": NO_JUDGE if self.judge is None else self.judge.name,
            "judge_url": None if self.judge is None else self.judge.describe().get("base_url"),
            "weights": self.weights._asdict(),
            "format": self.format,
        }

    def system_prompt(self) -> str:
        """What the policy is told once."""
        return system_prompt(self.view, compact=self.compact)

    def read_answer(self, text: str) -> str:
        """The text in the answer tags of a message, or all of it: its one message is the answer.

        What names no choice is so a wrong answer, and not a missing one.
        """
        given = read_response(Message("assistant", text)).answer
        return text.strip() if given is None else given

    def choice_question(self, task: Task) -> ChoiceQuestion:
        """The question, its choices, and the right one."""
        told = task.provenance
        return ChoiceQuestion(str(told["question"]), dict(told["choices"]), str(task.gold))

    async def check(self) -> None:
        """Find out before any work starts whether the judge answers."""
        if self.judge is not None:
            await self.judge.check()

    async def release(self) -> None:
        """Close the judge's connections; it opens them again when it is asked."""
        if self.judge is not None:
            await self.judge.close()

    async def ascore(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """Format, logic and accuracy, their weighed sum, and the score that accuracy averages.

        ``score`` is 1 for the right letter, alone or with the text of its own choice, and else 0,
        whatever the grading of the rewards. ``answered`` is 1 if the answer names a choice.

        Raises:
            JudgeError: If no judgement can be had: then there is no reward, which is not 0.
        """
        question = self.choice_question(task)
        response = read_response(last_said(trajectory))
        final = final_answer(response.answer, question)
        rewards = {
            "score": accuracy_reward(response, final, question),
            "format": format_reward(response, self.format),
            "accuracy": accuracy_reward(response, final, question, self.format),
            "answered": float(final is not None),
        }
        logic = 0.0
        if self.judge is not None:
            if response.well_formed and final is not None:  # else Eq. 2 is 0, whatever a judge says
                concluded = await self.judge.conclusion(question, response.reasoning)
                logic = logic_reward(concluded, final, response)
            rewards["logic"] = logic
        total = self.weights.total(rewards["format"], logic, rewards["accuracy"])
        return {**rewards, "reward": total}

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """`ascore` for code that is not asynchronous."""
        return run_sync(self._score_and_release(task, trajectory))

    def script(self, task: Task) -> Script:
        """Answer from the text of the chart's data alone, which shows that it can be done.

        An item without such a text, of which only an image is known, is answered with its right
        choice: that shows the way through the rewards, and nothing of the question.
        """
        question = self.choice_question(task)
        item = next((item for item in self.items() if item.id == task.id), None)
        letter, because = question.answer, f"The answer on file is {question.answer}."
        if item is not None and item.text and item.source is not None:
            found = answer(item.text, item.question, item.choices)
            letter, because = found.letter, found.because
        reasoning = f"{because} Therefore the answer is {letter}."
        yield Message("assistant", f"<think>{reasoning}</think><answer>{letter}</answer>")

    def sample_answer(self, task: Task, rng: np.random.Generator) -> str:
        """A random letter in the right form: what knowing only the form is worth."""
        letters = self.choice_question(task).letters
        letter = letters[int(rng.integers(len(letters)))]
        return f"<think>I pick {letter} at random.</think><answer>{letter}</answer>"

    def _asked(self) -> tuple[Item, ...]:
        items = self.items()
        if self.task is not None:
            kinds = sorted({item.category for item in items})
            if self.task not in kinds:
                raise UserError(
                    f"there are no questions of {self.task!r}; there are {', '.join(kinds)}"
                )
            items = tuple(item for item in items if item.category == self.task)
        if self.view != "image" and (blind := next((i for i in items if not i.text), None)):
            raise UserError(
                f"the item {blind.id!r} has no text for the view {self.view!r}: only its image is "
                "known, so take view=image"
            )
        return items

    def _to_task(self, item: Item) -> Task:
        world = {}
        if item.source is not None:
            world = {"dataset": item.source.dataset, "forecast": item.source.forecast}
        return Task(
            item.id,
            question_prompt(item, self.view),
            item.answer,
            answer_type="choice",
            template=item.category,
            split=item.split,
            world=world,
            provenance={
                "question": item.question,
                "choices": item.lettered,
                "chart": item.to_dict()["source"],
                "image_path": item.image_path,
                "made": dict(item.provenance),
            },
        )

    def _picture(self, task: Task) -> Image:
        told = task.provenance
        if chart := told["chart"]:
            return draw_source(ChartSource.from_dict(chart), self._data(str(chart["dataset"])))
        self.items()  # the folder of their images
        title = f"a chart of the kind {task.template}"
        return read_picture(self._folder / str(told["image_path"]), title)

    def _data(self, name: str) -> Dataset:
        given = self.dataset
        if isinstance(given, Dataset):
            return given
        # A bank knows its dataset by name; a folder may have been given for it.
        try:
            return load_dataset(given if name == Path(given).name else name)
        except GeodataError as error:
            raise UserError(str(error)) from error

    def _bank_name(self) -> str:
        if isinstance(self.bank, str | Path):
            return Path(self.bank).name.split(".")[0]
        return "items" if self.bank is not None else str(self.describe()["dataset"])

    @staticmethod
    def build_bank(
        dataset: Dataset | str = "demo",
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        output: Path | str | None = None,
        *,
        strict: bool = True,
        regions: str | None = None,
        weatherqa: str | None = None,
    ) -> ChartBankReport:
        """Make a bank of chart questions from a dataset; see `zephyrus_chartqa.bank.build_bank`.

        Args:
            dataset: The dataset, or its name or folder.
            sizes: Questions of each split, shared evenly by the modalities.
            seed: Same seed and data, same bank.
            output: The file, ``.jsonl`` or ``.jsonl.gz``; nothing is written if None.
            strict: Refuse a bank that lacks a modality or can be guessed; false takes what there is.
            regions: Names of chart regions, separated by semicolons.
            weatherqa: A folder to write the bank to as WeatherQA's files too, with every chart.
        """
        from zephyrus_chartqa.bank import build_bank

        return build_bank(
            dataset, sizes, seed, output, strict=strict, regions=regions, weatherqa=weatherqa
        )

    async def _score_and_release(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        try:
            return await self.ascore(task, trajectory)
        finally:
            await self.release()  # the loop ends with this call
