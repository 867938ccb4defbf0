import asyncio
import json
import random

import pytest
from evaluation_parts import RUBRIC, NoteEnv, WordJudge, make_run

from zephyrus.errors import UserError, WorkError
from zephyrus.evaluation import aevaluate, evaluate, read_evaluation
from zephyrus.evaluation.judgements import JUDGEMENTS, Judgement, JudgementKey, Judgements, merge
from zephyrus.evaluation.panel import FAILURES_IN_A_ROW
from zephyrus.evaluation.scores import Column, EventScores
from zephyrus.evaluation.settings import Settings
from zephyrus.evaluation.texts import chosen_events, read_texts
from zephyrus.judge.assess import Assessment
from zephyrus.judge.base import Claim, Label, RubricScores, Verdict
from zephyrus.judge.discussion import ClaimOptions
from zephyrus.lock import FileLock
from zephyrus.run import Run
from zephyrus.trajectory import Key

ENV = NoteEnv()
REPORTS = {
    ("e1", 0): "Rain falls. Not wind blows. Sun shines.",
    ("e1", 1): "Rain falls.",
    ("e2", 0): "Snow lies. Ice.",
}


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "r", ENV, REPORTS)


def judged(run, *judges, **options):
    return evaluate(run, ENV, judges or [WordJudge()], **{"progress": False, **options})


def lines(run):
    text = (run.path / JUDGEMENTS).read_text()
    assert text.endswith("\n")
    rows = [json.loads(line) for line in text.splitlines()]
    return [row for row in rows if "key" in row]


def test_means_by_hand_with_unequal_repeats(run):
    found = judged(run, WordJudge("words"), WordJudge("soft", deterministic=False))
    words = found.judges["words"]
    # e1.0: claims S, N, N (precision 1, neutral 2/3); of two reference claims one is supported,
    #       one refuted: recall 1/2, F1 2/3. e1.1: precision 1, recall 1/2, F1 2/3.
    # e2.0: precision 1, neutral 1/2, recall 1, F1 1.
    assert words.scores["f1"].mean == pytest.approx((2 / 3 + 1) / 2)
    assert words.scores["recall"].mean == pytest.approx(0.75)
    assert words.scores["precision"].mean == 1
    assert words.scores["neutral_rate"].mean == pytest.approx(((2 / 3 + 0) / 2 + 1 / 2) / 2)
    # Words: 7, 2, 3, so scores (8, 7), (3, 2), (4, 3) of 10, normalised (s − 1) / 9.
    e1, e2 = ((7 + 6) / 18 + (2 + 1) / 18) / 2, (3 + 2) / 18
    assert words.scores["rubric"].mean == pytest.approx((e1 + e2) / 2)
    assert words.criteria["clear"].mean == pytest.approx(((7 + 2) / 18 + 3 / 9) / 2)
    assert words.scores["rubric"].events == 2 and found.rollouts == 3
    assert words.labels == {
        "report": {"SUPPORTED": 3, "NEUTRAL": 3, "REFUTED": 0},
        "reference": {"SUPPORTED": 3, "NEUTRAL": 1, "REFUTED": 1},
    }
    assert (words.passes, words.wanted, words.judged, words.missing) == (1, 3, 3, 0)
    # The soft judge adds the number of the pass, 0, 1 and 2, to both scores: 1/9 on average.
    soft = found.judges["soft"]
    assert soft.scores["rubric"].mean == pytest.approx((e1 + e2) / 2 + 1 / 9)
    assert (soft.passes, soft.wanted) == (3, 9)
    assert soft.labels["report"]["SUPPORTED"] == 9
    assert found.average.mean == pytest.approx(
        sum(r.scores[s].mean for r in found.judges.values() for s in ("rubric", "f1")) / 4
    )
    assert found.rewards["reward"].mean == 1
    kept = json.loads((run.path / "evaluation.json").read_text())
    assert kept == {"format": "0.1.0", **json.loads(json.dumps(found.to_dict()))}


def test_what_is_done_is_not_asked_again_and_gives_the_same_numbers(run):
    soft = WordJudge("soft", deterministic=False)
    first = judged(run, soft)
    asked = len(soft.asked)
    again = WordJudge("soft", deterministic=False)
    second = judged(run, again)
    assert again.asked == [] and again.checks == 0
    assert second.to_dict() == first.to_dict() == read_evaluation(run).to_dict()
    more = WordJudge("soft", deterministic=False)
    fourth = judged(run, more, passes=4)
    assert {scoring_pass for what, _, scoring_pass in more.asked if what == "rubric"} == {3}
    assert fourth.judges["soft"].wanted == 12
    assert fourth.judges["soft"].usage["requests"] == asked + more.usage.requests
    assert judged(run, WordJudge("soft", deterministic=False), passes=1).judges["soft"].wanted == 3


def test_each_judge_has_its_own_costs_and_fewer_passes_their_own_numbers(run):
    words, soft = WordJudge("words"), WordJudge("soft", deterministic=False)
    found = judged(run, words, soft)
    for judge in (words, soft):
        wanted = judge.usage
        usage = found.judges[judge.name].usage
        assert (usage["requests"], usage["cost_usd"]) == (wanted.requests, wanted.cost_usd)
    assert words.usage.requests < soft.usage.requests
    # In its first pass the soft judge says what the other one says.
    one = read_evaluation(run, passes=1).judges["soft"]
    assert one.scores == found.judges["words"].scores
    assert one.labels == found.judges["words"].labels


def test_a_rollout_that_lacks_a_pass_weighs_as_much_as_another():
    scores = EventScores()
    column = Column("j", "f1")
    for repeat, passes in ((0, [0.0, 0.3, 0.6]), (1, [0.9])):
        for value in passes:
            scores.add(column, Key("e1", 0, repeat), value)
    scores.add(column, Key("e2", 0, 0), 0.4)
    assert scores.by_event(column) == {"e1": pytest.approx(0.6), "e2": 0.4}
    assert scores.means([column], [column]).average.mean == pytest.approx(0.5)


def test_every_word_of_a_key_is_there_once(run):
    judged(run, WordJudge(), WordJudge("soft", deterministic=False), passes=2)
    keys = [tuple(row["key"][:5]) for row in lines(run)]
    rollouts = [(task, 0, repeat) for task, repeat in REPORTS]
    assert sorted(keys) == sorted(
        [(*key, "words", 0) for key in rollouts]
        + [(*key, "soft", p) for key in rollouts for p in (0, 1)]
    )


def test_another_judge_model_is_kept_beside_the_first(run):
    first = judged(run, WordJudge(version=1))
    new = WordJudge(version=2)
    second = judged(run, new)
    assert new.usage.requests > 0
    ids = [e.judges["words"].settings.id for e in (first, second)]
    assert ids[0] != ids[1]
    assert Judgements.read(run.path).ids("words") == ids
    back = judged(run, WordJudge(version=1))
    assert back.judges["words"].scores == first.judges["words"].scores
    assert read_evaluation(run).judges["words"].settings.id == ids[0], "the last that was used"
    assert read_evaluation(run, settings={"words": ids[1]}).judges["words"].settings.id == ids[1]


def test_an_address_is_no_other_setting_but_the_claims_cap_is(run):
    one, two = WordJudge(), WordJudge()
    assert one.describe()["base_url"] != two.describe()["base_url"]
    options = ClaimOptions()
    assert Settings.of(one, RUBRIC, options).id == Settings.of(two, RUBRIC, options).id
    capped = Settings.of(one, RUBRIC, ClaimOptions(max_claims=3))
    assert capped.id != Settings.of(one, RUBRIC, options).id
    assert Settings.from_dict(json.loads(json.dumps(capped.to_dict()))).id == capped.id


def test_judges_with_different_caps_are_noted(run):
    judged(run, WordJudge("a"), options=ClaimOptions(max_claims=1))
    assert read_evaluation(run).options.max_claims == 1
    judged(run, WordJudge("b"))
    found = read_evaluation(run)
    assert list(found.judges) == ["a", "b"]
    assert any("different claims caps" in note for note in found.notes)
    # Of e1.0 only "Rain falls" counts, in both directions; e1.1 and e2.0 are as they were.
    assert found.judges["a"].scores["neutral_rate"].mean == 0
    assert found.judges["a"].labels["reference"]["REFUTED"] == 0


def test_the_weight_of_neutral_claims_needs_no_new_judgement(run):
    judged(run)
    judge = WordJudge()
    found = judged(run, judge, options=ClaimOptions(neutral="penalize"))
    assert judge.asked == []
    # e1.0: P 1/3, R 1/2; e1.1: P 1, R 1/2; e2: P 1/2, R 1
    wanted = ((2 * (1 / 3) * 0.5 / (1 / 3 + 0.5) + 2 / 3) / 2 + 2 / 3) / 2
    assert found.judges["words"].scores["f1"].mean == pytest.approx(wanted)
    assert found.to_dict()["options"]["neutral"] == "penalize"
    assert read_evaluation(run).judges["words"].scores["f1"].mean != pytest.approx(wanted)


def test_other_texts_are_judged_anew(run):
    judged(run)
    env = NoteEnv({"e1": "Rain falls. Wind blows.", "e2": "Ice."})
    judge = WordJudge()
    found = evaluate(run, env, judge, progress=False)
    assert {text for _, text, _ in judge.asked if text in ("Ice.", "Snow lies.")} == {"Ice."}
    assert found.judges["words"].judged == 3
    assert all("Rain falls." not in text for _, text, _ in judge.asked)


def test_a_judgement_of_other_texts_is_no_stand_in(run):
    judged(run)
    down = WordJudge()
    down.down = True
    found = evaluate(run, NoteEnv({"e1": "Fog.", "e2": "Snow lies."}), down, progress=False)
    assert found.judges["words"].judged == 1 and found.judges["words"].missing == 2
    assert found.judges["words"].scores["f1"].events == 1


def test_a_rollout_without_a_report_scores_0_unasked(tmp_path):
    run = make_run(tmp_path / "r", ENV, {("e1", 0): None, ("e2", 0): "Snow lies."})
    judge = WordJudge()
    found = judged(run, judge).judges["words"]
    assert found.scores["f1"].mean == 0.5 and found.scores["f1"].events == 2
    assert found.empty == 1 and found.missing == 0
    assert all(text != "Rain falls. Wind blows." for _, text, _ in judge.asked)


def test_a_reference_without_claims_is_invalid_and_in_no_mean(tmp_path):
    env = NoteEnv({"e1": "...", "e2": "Snow lies."})
    run = make_run(tmp_path / "r", env, {("e1", 0): "Rain falls.", ("e2", 0): "Ice."})
    found = evaluate(run, env, WordJudge(), progress=False)
    words = found.judges["words"]
    assert (words.invalid, words.missing) == (1, 0)
    assert words.scores["f1"].events == 1 and words.scores["rubric"].events == 2
    assert any("not over the same events" in note for note in found.notes)


def test_a_judge_that_is_down_from_the_start_is_the_users_to_mend(run):
    bad, good = WordJudge("bad"), WordJudge("good")
    bad.broken = True
    with pytest.raises(UserError, match="nothing answers for bad"):
        judged(run, good, bad)
    assert good.asked == [] and not (run.path / "evaluation.json").exists()
    assert good.closed == 1 and bad.closed == 1


def test_what_a_judge_could_not_say_is_missing_and_asked_for_later(run):
    calm = make_run(run.path.parent / "calm", ENV, REPORTS)
    wanted = judged(calm, WordJudge("soft", deterministic=False))
    ill = WordJudge("soft", deterministic=False)
    ill.down_for = ("rubric",)
    found = judged(run, ill)
    soft = found.judges["soft"]
    assert (soft.judged, soft.missing, found.missing) == (0, 9, 9)
    assert soft.reasons == {"soft is down": 9}
    assert soft.scores["rubric"].mean is None and soft.scores["rubric"].events == 0
    assert soft.scores["f1"].mean == wanted.judges["soft"].scores["f1"].mean
    assert found.average.mean is None, "an average over fewer scores is another number"
    well = WordJudge("soft", deterministic=False)
    mended = judged(run, well)
    assert {what for what, _, _ in well.asked} == {"rubric"}, "claims were had already"
    assert mended.missing == 0
    for name, score in wanted.judges["soft"].scores.items():
        assert mended.judges["soft"].scores[name] == score
    assert mended.average == wanted.average


def test_a_judge_that_dies_is_left_alone_and_the_others_go_on(tmp_path):
    references = {f"e{i}": f"Event {i}. Rain." for i in range(40)}
    env = NoteEnv(references)
    run = make_run(tmp_path / "r", env, {(name, 0): "Rain." for name in references})
    dead, alive = WordJudge("dead"), WordJudge("alive")
    dead.down = True
    found = evaluate(run, env, [dead, alive], concurrency=4, progress=False)
    # Up to four are under way when the tenth fails.
    tried = sum(what == "rubric" for what, _, _ in dead.asked)
    assert FAILURES_IN_A_ROW <= tried <= FAILURES_IN_A_ROW + 4
    assert found.judges["dead"].missing == 40 and found.judges["dead"].judged == 0
    assert found.judges["alive"].judged == 40
    dead.down = False
    again = evaluate(run, env, [dead, alive], progress=False)
    assert again.missing == 0
    assert again.judges["dead"].scores == again.judges["alive"].scores


def test_the_order_of_judgements_changes_no_digit(tmp_path):
    rng = random.Random(0)
    references = {f"e{i}": ". ".join(rng.choices("abcdefgh", k=7)) for i in range(13)}
    env = NoteEnv(references)
    reports = {
        (name, repeat): ". ".join(rng.choices("abcdefgh", k=5 + repeat))
        for name in references
        for repeat in range(3)
    }
    kinds = []
    for concurrency, order in ((1, 1), (32, -1)):
        items = dict(list(reports.items())[::order])
        run = make_run(tmp_path / f"r{concurrency}", env, items)
        judge = WordJudge("soft", deterministic=False)
        found = evaluate(run, env, judge, concurrency=concurrency, progress=False)
        kinds.append((found.judges["soft"].scores, found.average))
    assert kinds[0] == kinds[1]


def test_a_few_events_are_the_same_ones_in_every_run(tmp_path):
    names = [f"e{i}" for i in range(30)]
    some = chosen_events(names, 7)
    assert len(some) == 7 and some == chosen_events(reversed(names), 7)
    assert chosen_events(names, None) == set(names)
    env = NoteEnv(dict.fromkeys(names, "Rain."))
    run = make_run(tmp_path / "r", env, {(name, 0): "Rain." for name in names})
    found = evaluate(run, env, WordJudge(), n=7, progress=False)
    assert set(found.events) == some and found.judges["words"].wanted == 7
    judge = WordJudge()
    assert evaluate(run, env, judge, progress=False).judges["words"].judged == 30
    assert sum(what == "rubric" for what, _, _ in judge.asked) == 23


def test_only_a_part(run):
    judge = WordJudge()
    found = judged(run, judge, parts=("claims",))
    assert {what for what, _, _ in judge.asked} == {"claims", "verdicts"}
    assert "rubric" not in found.judges["words"].scores and found.missing == 0
    assert found.average.mean == found.judges["words"].scores["f1"].mean
    judge = WordJudge()
    whole = judged(run, judge)
    assert {what for what, _, _ in judge.asked} == {"rubric"}
    assert whole.average.mean == judged(make_run(run.path.parent / "b", ENV, REPORTS)).average.mean


def test_two_evaluations_of_one_run_do_not_collide(run):
    lock = FileLock(run.path / ".judgements.lock")
    try:
        with pytest.raises(UserError, match="is being evaluated by process"):
            judged(run)
    finally:
        lock.release()
    assert judged(run).missing == 0


def test_a_torn_last_line_is_judged_again(run):
    judged(run)
    file = run.path / JUDGEMENTS
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    assert len(Judgements.read(run.path).latest) == 2
    judge = WordJudge()
    assert judged(run, judge).missing == 0
    assert sum(what == "rubric" for what, _, _ in judge.asked) == 1
    assert len(lines(run)) == 3


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"key": ["e1", 0, 0, "words", 0, "nope"]}', "not a judgement"),
        ("[]", "no object"),
        ('{"settings": "x"}', "not settings"),
        ("nonsense", "damaged in line 1"),
    ],
)
def test_a_damaged_file_is_told_and_not_touched(run, line, says):
    file = run.path / JUDGEMENTS
    file.write_text(line + "\n")
    for read in (lambda: judged(run), lambda: read_evaluation(run)):
        with pytest.raises(UserError, match=says):
            read()
    assert file.read_text() == line + "\n"


def test_a_full_disk_stops_the_work_with_what_was_kept(run, monkeypatch):
    real = Judgements.append
    count = 0

    def full(self, judgement):
        nonlocal count
        count += 1
        if count > 1:
            raise OSError(28, "No space left on device")
        real(self, judgement)

    monkeypatch.setattr(Judgements, "append", full)
    with pytest.raises(WorkError, match="No space left"):
        judged(run, concurrency=1)
    monkeypatch.undo()
    assert len(lines(run)) == 1
    assert judged(run).missing == 0


def test_a_bug_in_a_judge_is_a_traceback_and_keeps_what_was_said(run):
    class Buggy(WordJudge):
        async def rubric(self, brief, *, scoring_pass=0):
            if brief.context == "about e2":
                raise ZeroDivisionError("ours")
            return await super().rubric(brief, scoring_pass=scoring_pass)

    with pytest.raises(ZeroDivisionError, match="ours"):
        judged(run, Buggy(), concurrency=1)
    assert all(row["key"][0] == "e1" for row in lines(run))


def test_an_environment_without_texts_and_a_run_without_rollouts(tmp_path, sum_env):
    run = make_run(tmp_path / "r", ENV, REPORTS)

    class Other(NoteEnv):
        def brief(self, task, trajectory):
            return super(NoteEnv, self).brief(task, trajectory)

    with pytest.raises(UserError, match="no texts for a judge"):
        evaluate(run, Other(), WordJudge(), progress=False)
    with pytest.raises(UserError, match="asks something else"):
        evaluate(
            run,
            ENV,
            WordJudge(),
            tasks=[type(t)(t.id, "Else?", t.gold) for t in ENV.tasks()],
            progress=False,
        )
    Run.create(tmp_path / "empty", run.config).close()
    with pytest.raises(UserError, match="no finished rollout to judge"):
        evaluate(Run.open(tmp_path / "empty"), ENV, WordJudge(), progress=False)


def test_the_list_of_judges_must_make_sense(run):
    with pytest.raises(UserError, match="has words twice"):
        judged(run, WordJudge(), WordJudge())
    with pytest.raises(UserError, match="is empty"):
        evaluate(run, ENV, [], progress=False)
    with pytest.raises(UserError, match="at least 1"):
        judged(run, passes=0)


def test_reading_what_is_not_judged_names_the_command(run):
    with pytest.raises(UserError, match=r"not judged; first: zephyrus env evaluate .* rules"):
        read_evaluation(run)
    judged(run, WordJudge("soft", deterministic=False), passes=2)
    with pytest.raises(UserError, match=r"not judged by 'it'; first: .*--judges soft,it"):
        read_evaluation(run, ["soft", "it"])
    with pytest.raises(UserError, match=r"by 'soft' in 3 scoring passes; .* --passes 3"):
        read_evaluation(run, ["soft"], passes=3)
    assert read_evaluation(run, ["soft"]).judges["soft"].passes == 2
    assert read_evaluation(run, ["soft"], passes=1).judges["soft"].wanted == 3


def test_a_comparison_with_a_base_run(run, tmp_path):
    base = make_run(tmp_path / "b", ENV, {("e1", 0): "Rain falls.", ("e2", 0): "Hot."})
    found = judged(run).against(judged(base))
    change = found.change("words", "f1")
    assert change.relative == pytest.approx((5 / 6) / (1 / 3) - 1)
    assert found.change("words", "nothing") is None
    data = found.to_dict()["base"]
    assert data["run"] == "b"
    assert data["judges"]["words"]["f1"]["difference"] == pytest.approx(0.5)
    assert data["avg"]["relative"] == pytest.approx(
        found.average.mean / judged(base).average.mean - 1
    )
    few = make_run(tmp_path / "few", ENV, {("e1", 0): "Rain falls."})
    notes = judged(run).against(judged(few)).notes
    assert any("over the 1 events that r and few share" in note for note in notes)


def test_in_a_running_loop_and_with_a_progress_callback(run):
    told = []

    class Ear:
        def start(self, total, done):
            told.append((total, done))

        def update(self, judgement):
            told.append(judgement.key.task)

        def stop(self):
            told.append("stop")

    async def notebook():
        judge = WordJudge()
        first = await aevaluate(run, ENV, judge, progress=Ear())
        assert judge.closed == 0, "the caller's judge is the caller's to close"
        return first, judged(run)  # sync, inside a loop

    first, second = asyncio.run(notebook())
    assert told[0] == (3, 0) and told[-1] == "stop" and sorted(told[1:-1]) == ["e1", "e1", "e2"]
    assert first.to_dict() == second.to_dict()


def test_texts_come_pass_by_pass_in_an_order_of_their_own(run):
    order = [text.key for text in read_texts(run, ENV)]
    assert [key.repeat for key in order] == [0, 0, 1]
    soft = WordJudge("soft", deterministic=False)
    judged(run, soft, concurrency=1)
    passes = [p for what, _, p in soft.asked if what == "rubric"]
    assert passes == sorted(passes)


def test_merging_two_answers_to_one_question():
    claim = Verdict(Claim("Rain"), Label.SUPPORTED)
    scores = RubricScores("r/1", {"a": 5})
    first = Assessment("j", rubric=scores, missing={"claims": "down"}, notes={"guard_removed": 1})
    second = Assessment(
        "j", parts=("claims",), report_verdicts=(claim,), reference_verdicts=(claim,)
    )
    both = merge(first, second)
    assert both.rubric == scores and both.report_verdicts == (claim,) and both.missing == {}
    assert both.parts == ("rubric", "claims") and both.notes == {"guard_removed": 1}
    assert both.scores()["f1"] == 1
    still = merge(first, Assessment("j", parts=("claims",), missing={"claims": "down again"}))
    assert still.missing == {"claims": "down again"} and still.rubric == scores


def test_a_judgement_survives_its_file():
    key = JudgementKey("e1", 0, 1, "j", 2, "abc")
    odd = Assessment("j", 2, report_verdicts=(Verdict(Claim("\ud800 “x”"), Label.NEUTRAL),))
    judgement = Judgement(key, "d", odd, 1.25, "call", {"requests": 2})
    assert Judgement.from_dict(json.loads(json.dumps(judgement.to_dict()))) == judgement
