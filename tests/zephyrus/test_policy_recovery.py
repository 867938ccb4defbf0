import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.policy.recovery import MALFORMED_NAME, recover, split_reasoning

SCHEMAS = [
    {
        "type": "function",
        "function": {
            "name": "dataset",
            "parameters": {
                "type": "object",
                "properties": {
                    "feature": {"type": "string"},
                    "hour": {"type": "integer"},
                    "latitude": {"type": "number"},
                    "all": {"type": "boolean"},
                    "names": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
    {"type": "function", "function": {"name": "features", "parameters": {"type": "object"}}},
]
KENYA = '{"name": "dataset", "arguments": {"feature": "Kenya", "hour": 24}}'
CALL = ("dataset", {"feature": "Kenya", "hour": 24})


def read(text, **options):
    found = recover(text, SCHEMAS, **options)
    return found.text, [(call.name, json.loads(call.arguments)) for call in found.calls]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{KENYA}</tool_call>",
        f"<tool_call>\n{KENYA}\n</tool_call>\n",
        f"<tool_call>{KENYA}",
        f"<tool_call>[{KENYA}]</tool_call>",
        f"<tool_call>```json\n{KENYA}\n```</tool_call>",
        KENYA,
        f"[{KENYA}]",
        KENYA.replace("arguments", "parameters"),
        f"```json\n{KENYA}\n```",
        f"```\n{KENYA}\n```",
        f"```json\n{KENYA}",
        f'{{"tool_calls": [{KENYA}]}}',
        f'{{"type": "function", "function": {KENYA}}}',
        '{"name": "dataset", "arguments": "{\\"feature\\": \\"Kenya\\", \\"hour\\": 24}"}',
        f"[TOOL_CALLS][{KENYA}]",
        f"[TOOL_CALLS] [{KENYA}]",
        '[TOOL_CALLS]dataset[ARGS]{"feature": "Kenya", "hour": 24}',
        '[TOOL_CALLS]dataset[CALL_ID]abc123[ARGS]{"feature": "Kenya", "hour": 24}',
        '[TOOL_CALLS]dataset{"feature": "Kenya", "hour": 24}',
        "<tool_call>\n<function=dataset>\n<parameter=feature>\nKenya\n</parameter>\n"
        "<parameter=hour>\n24\n</parameter>\n</function>\n</tool_call>",
        "<function=dataset><parameter=feature>Kenya</parameter><parameter=hour>24</parameter>",
        "<function=dataset><parameter=feature>Kenya<parameter=hour>24</function>",
    ],
)
def test_every_form_is_read_and_leaves_no_text(text):
    assert read(text) == ("", [CALL])


@pytest.mark.parametrize(
    "form", [f"<tool_call>{KENYA}</tool_call>", KENYA, f"```json\n{KENYA}\n```"]
)
def test_the_text_around_a_call_is_kept(form):
    assert read(f"I look it up.\n{form}\nThen I answer.") == (
        "I look it up.\nThen I answer.",
        [CALL],
    )


def test_text_after_an_unclosed_call_is_kept():
    assert read(f"<tool_call>{KENYA} and then") == ("and then", [CALL])


def test_several_calls_keep_their_order():
    other = '{"name": "features", "arguments": {"query": "lake"}}'
    text = f"a {other} b <tool_call>{KENYA}</tool_call><tool_call>{other}{KENYA}"
    _, calls = read(text)
    assert [name for name, _ in calls] == ["features", "dataset", "features", "dataset"]


def test_a_bare_list_of_two_calls():
    assert read(f"[{KENYA}, {KENYA}]") == ("", [CALL, CALL])


@pytest.mark.parametrize(
    "text",
    [
        "It is 24.3 °C.",
        '{"feature": "Kenya"}',
        '{"name": "Kenya", "arguments": {"hour": 1}}',  # no such tool
        '{"name": "dataset"}',  # bare and without arguments
        '```json\n{"name": "Lake Victoria", "arguments": {}}\n```',
        "a list [1, 2] and {braces}",
        f"<answer>{KENYA}</answer>",
        f"<answer><tool_call>{KENYA}</tool_call></answer>",
        f"<ANSWER>{KENYA}",
        " leading and trailing blanks ",
    ],
)
def test_what_is_no_call_stays_as_it_is(text):
    assert read(text) == (text, [])


def test_a_call_beside_an_answer_is_read_and_the_answer_stays():
    assert read(f"{KENYA}<answer>{KENYA}</answer>") == (f"<answer>{KENYA}</answer>", [CALL])


def test_a_tagged_call_of_an_unknown_tool_is_still_a_call():
    assert read('<tool_call>{"name": "wind", "arguments": {}}</tool_call>') == ("", [("wind", {})])


def test_a_tagged_call_without_arguments_takes_the_other_keys():
    assert read('<tool_call>{"name": "dataset", "hour": 6}</tool_call>')[1] == [
        ("dataset", {"hour": 6})
    ]


@pytest.mark.parametrize(
    ("body", "name", "arguments"),
    [
        ('{"name": "dataset", "arguments": {"hour": }}', "dataset", '{"hour": }}'),
        ("{'name': 'dataset'}", MALFORMED_NAME, "{'name': 'dataset'}"),
        ("dataset Kenya", MALFORMED_NAME, "dataset Kenya"),
        ("", MALFORMED_NAME, "{}"),
    ],
)
def test_a_malformed_tagged_call_keeps_what_was_written(body, name, arguments):
    found = recover(f"<tool_call>{body}</tool_call>", SCHEMAS)
    assert [(call.name, call.arguments) for call in found.calls] == [(name, arguments)]


def test_line_breaks_inside_a_json_string_are_forgiven():
    assert read('{"name": "dataset", "arguments": {"feature": "Lake\nVictoria"}}')[1] == [
        ("dataset", {"feature": "Lake\nVictoria"})
    ]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("feature", "24", "24"),
        ("feature", "null", None),
        ("hour", "24", 24),
        ("hour", "noon", "noon"),
        ("latitude", "-1.5", -1.5),
        ("all", "True", True),
        ("all", "false", False),
        ("names", '["a", "b"]', ["a", "b"]),
        ("unheard_of", "7", 7),
        ("unheard_of", "7 days", "7 days"),
    ],
)
def test_xml_parameters_get_the_type_of_the_schema(key, text, value):
    xml = f"<function=dataset><parameter={key}>\n{text}\n</parameter></function>"
    assert read(xml) == ("", [("dataset", {key: value})])


def test_tagged_only_leaves_bare_calls():
    assert read(KENYA, tagged_only=True) == (KENYA, [])
    assert read(f"<tool_call>{KENYA}</tool_call>", tagged_only=True) == ("", [CALL])


def test_very_deep_and_very_long_texts_are_survived():
    assert read("[" * 100_000) == ("[" * 100_000, [])
    assert read('{"name": ' * 5_000)[1] == []
    deep = '{"name": "dataset", "arguments": ' + "[" * 990 + "]" * 990 + "}"
    recover(deep, SCHEMAS)
    recover(f"<tool_call>{deep}</tool_call>", SCHEMAS)


PIECES = st.sampled_from(
    [
        "<tool_call>",
        "</tool_call>",
        "<answer>",
        "</answer>",
        "<function=dataset>",
        "</function>",
        "<parameter=hour>",
        "</parameter>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "```json\n",
        "```",
        KENYA,
        '{"name": "dataset", ',
        '"arguments": {',
        "}",
        "[",
        "]",
        "{",
        '"',
        ",",
        "\\ud800",
        "<think>",
        "</think>",
        " ",
        "\n",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=20).map("".join))
@settings(max_examples=250, deadline=None)
def test_no_text_raises_and_no_call_comes_out_of_an_answer(text):
    found = recover(text, SCHEMAS)
    for call in found.calls:
        assert call.name
        assert call.arguments.strip()
    if not found.calls:
        assert found.text == text
    inside = text.replace("<answer>", "").replace("</answer>", "")
    assert recover(f"<answer>{inside}</answer>", SCHEMAS).calls == ()
    reasoning, rest = split_reasoning(text)
    assert reasoning or "</think>" in text or "<think>" in text or rest == text


@given(st.text(st.characters(exclude_characters="<[{`"), max_size=200))
@settings(max_examples=200, deadline=None)
def test_plain_text_comes_back_unchanged(text):
    assert recover(text, SCHEMAS).text == text
    assert recover(text, SCHEMAS).calls == ()
    assert split_reasoning(text) == ("", text)


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=12),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=6,
        ),
        max_size=4,
    ).filter(lambda d: "<" not in json.dumps(d, ensure_ascii=False))
)
@settings(max_examples=200, deadline=None)
def test_arguments_survive_every_json_form(arguments):
    written = json.dumps({"name": "dataset", "arguments": arguments})
    for text in (f"<tool_call>{written}</tool_call>", written, f"[TOOL_CALLS][{written}]"):
        assert read(text) == ("", [("dataset", arguments)])


@pytest.mark.parametrize(
    ("text", "reasoning", "rest"),
    [
        ("<think>\nhm\n</think>\n\n<answer>1</answer>", "hm", "<answer>1</answer>"),
        ("hm\n</think>\n\n<answer>1</answer>", "hm", "<answer>1</answer>"),
        ("<think>cut off", "cut off", ""),
        ("<think></think>yes", "", "yes"),
        ("<think>a</think>x<think>b</think>y", "a\nb", "xy"),
        ("no reasoning ", "", "no reasoning "),
    ],
)
def test_reasoning_is_taken_out(text, reasoning, rest):
    assert split_reasoning(text) == (reasoning, rest)
