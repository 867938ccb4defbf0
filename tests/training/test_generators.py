"""vLLM behind our loop, with a stand-in for TRL's ``VLLMGeneration``: no GPU has run this."""

import threading

import pytest

pytest.importorskip("torch", reason="needs the extra train")

from types import SimpleNamespace

from zephyrus.curriculum.recipe import Sampling
from zephyrus.training.generators import VLLMGenerator, VLLMGenerators
from zephyrus.training.ranks import Ranks

END = 9


class VLLM:
    """TRL's interface (1.16): one setting, prompts in, (prompts, completions, logprobs, ids) out."""

    def __init__(self, mode="colocate"):
        self.mode = mode
        self.temperature, self.top_p, self.max_completion_length = 1.0, 1.0, 100
        self.asked, self.synced = [], 0

    def sync_weights(self):
        self.synced += 1

    def generate(self, prompts, images, num_generations):
        assert images is None and num_generations == 1
        self.asked.append((list(prompts), self.temperature, self.top_p, self.max_completion_length))
        completions = [[sum(prompt) % 7, 1, 2, END] for prompt in prompts]
        logprobs = [[[-0.5], [None], [-0.25], [-0.1]] for _ in prompts]
        return prompts, completions, logprobs, None


def test_completions_are_cut_at_their_own_limit_and_logprobs_go_along():
    vllm = VLLM()
    generator = VLLMGenerator(vllm, {END}, Ranks())
    generator.set(0.6, 0.9, 4)
    whole, cut = generator.generate(
        [[3, 4], [5]], [1, 2], temperature=0.6, top_p=0.9, max_tokens=[4, 2]
    )
    assert vllm.asked == [([[3, 4], [5]], 0.6, 0.9, 4)]
    assert (whole.ids, whole.ended) == ([0, 1, 2, END], True)
    assert whole.logprobs[0] == -0.5 and whole.logprobs[1] != whole.logprobs[1]  # None is NaN
    assert (cut.ids, cut.ended, len(cut.logprobs)) == ([5, 1], False, 2)


def test_weights_go_into_vllm_once_a_step():
    trainer = SimpleNamespace(
        state=SimpleNamespace(global_step=0), _last_loaded_step=-1, vllm_generation=VLLM()
    )
    generators = VLLMGenerators(Ranks())
    generators.trainer = trainer
    trainee = SimpleNamespace(chat=SimpleNamespace(stops={END}), eyes=None)
    for step in (0, 0, 1):
        trainer.state.global_step = step
        generators.of(trainee, Sampling(temperature=0.0, max_tokens=7))
    assert trainer.vllm_generation.synced == 2
    assert trainer.vllm_generation.temperature == 0.0
    assert trainer.vllm_generation.max_completion_length == 7


class Together(Ranks):
    """Two processes as threads that gather at a barrier."""

    def gather(self, values):
        slots, barrier = TABLE
        slots[self.rank] = list(values)
        barrier.wait(10)
        found = [value for rank in range(self.world) for value in slots[rank]]
        barrier.wait(10)
        return found


TABLE = ({}, threading.Barrier(2))


class Server(VLLM):
    """As TRL's server mode: each process gets as many answers as it gave prompts, by its place."""

    def __init__(self, ranks):
        super().__init__("server")
        self.ranks = ranks

    def generate(self, prompts, images, num_generations):
        every = self.ranks.gather(prompts)
        many = len(prompts)
        mine = every[self.ranks.rank * many : (self.ranks.rank + 1) * many]
        return super().generate(mine, images, num_generations)


def test_processes_with_unequal_work_ask_a_server_together_and_end_together():
    answers = {0: [], 1: []}

    def process(rank, batches):
        ranks = Together(rank, 2)
        trainer = SimpleNamespace(
            state=SimpleNamespace(global_step=0), _last_loaded_step=0, vllm_generation=Server(ranks)
        )
        generators = VLLMGenerators(ranks)
        generators.trainer = trainer
        generator = generators.of(
            SimpleNamespace(chat=SimpleNamespace(stops={END}), eyes=None), Sampling(max_tokens=4)
        )
        for batch in batches:
            written = generator.generate(
                batch, [0] * len(batch), temperature=1.0, top_p=1.0, max_tokens=[4] * len(batch)
            )
            answers[rank] += [completion.ids[0] for completion in written]
        generators.drain()

    work = {0: [[[1], [2], [3]]], 1: [[[4]], [[5], [6]], [[1]]]}
    threads = [threading.Thread(target=process, args=item, daemon=True) for item in work.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert answers == {0: [1, 2, 3], 1: [4, 5, 6, 1]}
