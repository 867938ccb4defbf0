import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.messages import MALFORMED_NAME, Image, Message, ToolCall, Usage

PNG = b"\x89PNG\r\n\x1a\n"

calls = st.builds(ToolCall, st.text(), st.text(), st.text())
images = st.builds(Image, st.binary(max_size=40))
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=st.text(),
    reasoning=st.text(),
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    tool_call_id=st.text(),
    name=st.text(),
    images=st.lists(images, max_size=2).map(tuple),
)


@given(messages)
def test_a_message_comes_back_from_the_chat_shape_and_through_json(message):
    data = message.to_openai()
    assert Message.from_openai(data) == message
    assert Message.from_openai(json.loads(json.dumps(data))) == message


@given(messages)
def test_what_is_left_out_is_left_out(message):
    data = message.to_openai(vision=False, reasoning=False)
    assert isinstance(data["content"], str)
    assert "reasoning_content" not in data
    assert ("tool_calls" in data) == bool(message.tool_calls)
    assert ("tool_call_id" in data) == bool(message.tool_call_id)
    back = Message.from_openai(data)
    assert back.tool_calls == message.tool_calls
    assert back.images == ()


def test_the_chat_shape():
    message = Message(
        "assistant", "I look.", "Hm.", (ToolCall("dataset", '{"hour": 6}', "c1"),), name=""
    )
    assert message.to_openai() == {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "Hm.",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "dataset", "arguments": '{"hour": 6}'},
            }
        ],
    }
    answer = Message("tool", "24 °C", tool_call_id="c1", name="dataset")
    assert answer.to_openai() == {
        "role": "tool",
        "content": "24 °C",
        "tool_call_id": "c1",
        "name": "dataset",
    }


def test_pictures_are_parts_with_data_urls():
    message = Message("user", "Look.", images=(Image(PNG, "a map"), Image(b"", "nothing")))
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert message.to_openai()["content"] == [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
    ]
    assert Image(PNG).data_url == url
    assert Image(PNG)._repr_png_() == (PNG, {"alt": ""})


def test_a_model_that_does_not_see_reads_what_a_picture_shows():
    image = Image(PNG, "a map of wind")
    content = "[image, not visible to this model: a map of wind]"
    assert Message("user", "", images=(image,)).to_openai(vision=False)["content"] == content
    two = Message("user", "Look.", images=(image, image)).to_openai(vision=False)
    assert two["content"] == f"Look.\n{content}\n{content}"


def test_what_pictures_show_comes_back_where_it_was_stored():
    data = Message("user", "Look.", images=(Image(PNG), Image(PNG))).to_openai()
    back = Message.from_openai({**data, "image_alts": ["first", "second"]})
    assert [image.alt for image in back.images] == ["first", "second"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"role": "assistant", "content": None}, Message("assistant")),
        ({"role": "assistant"}, Message("assistant")),
        ({"role": "assistant", "content": "a", "tool_calls": None}, Message("assistant", "a")),
        ({"role": "assistant", "reasoning": "hm"}, Message("assistant", reasoning="hm")),
        (
            {"role": "user", "content": [{"type": "text", "text": t} for t in "ab"]},
            Message("user", "a\nb"),
        ),
        (
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}],
            },
            Message("user"),
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
            Message("assistant", tool_calls=(ToolCall("f", '{"a": 1}'),)),
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": 7, "function": {"name": "f"}}]},
            Message("assistant", tool_calls=(ToolCall("f", "{}", "7"),)),
        ),
    ],
)  # fmt: skip
def test_what_servers_write_in_other_ways(data, message):
    assert Message.from_openai(data) == message


# Actions ------------------------------------------------------------------------------------


@given(messages)
def test_an_action_is_a_chat_message_with_tool_calls(message):
    data = message.to_openai() | {"tool_calls": [c.to_openai() for c in message.tool_calls]}
    read = Message.from_action(f" \n{json.dumps(data)}\n")
    assert read.role == "assistant"
    assert read.tool_calls == message.tool_calls
    assert read.content == message.content


@pytest.mark.parametrize(
    "text",
    [
        "It is <answer>24</answer>",
        "",
        "  spaces stay  ",
        '{"answer": 24}',
        'I would send {"tool_calls": []}',
        "{curly}",
    ],
)
def test_an_action_that_is_text(text):
    assert Message.from_action(text) == Message("assistant", text)


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls": "x"}',
        '{"tool_calls": [1]}',
        '{"tool_calls": 5}',
        '{"tool_calls": {"name": "f"}}',
        '{"tool_calls": [{"function": "f"}]}',
        '{"tool_calls": [null]}',
        '{"content": 5, "tool_calls": []}',
        '{"content": [1], "tool_calls": []}',
        '{"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,x"}}],'
        ' "tool_calls": []}',
        '{"tool_calls": [], "image_alts": ["a"]}',
        '{"tool_calls": [{"function"',
        '{"tool_calls": ' + "[" * 100_000,
    ],
)
def test_an_action_that_cannot_be_read_is_a_malformed_call(text):
    read = Message.from_action(f" {text} ")
    assert read == Message("assistant", tool_calls=(ToolCall(MALFORMED_NAME, text),))


@given(st.text() | st.text().map('{{"tool_calls": {}'.format))
def test_no_text_breaks_an_action(text):
    assert Message.from_action(text).role == "assistant"


# Call ids -----------------------------------------------------------------------------------


def ids(*given_ids):
    calls = tuple(ToolCall("f", "{}", name) for name in given_ids)
    return [c.id for c in Message("assistant", tool_calls=calls).with_call_ids("t3").tool_calls]


def test_calls_without_ids_get_them():
    assert ids("", "") == ["t3-0", "t3-1"]
    assert ids("a", "", "b") == ["a", "t3-1", "b"]
    assert ids("a", "a") == ["a", "t3-1"]
    assert ids() == []


@given(st.lists(st.sampled_from(["", "a", "t3-0", "t3-1", "t3-2", "t3-3"]), max_size=5))
def test_every_call_has_an_id_of_its_own(given_ids):
    made = ids(*given_ids)
    assert len(set(made)) == len(given_ids)
    assert "" not in made


def test_tokens_add_up():
    assert Usage(1, 2) + Usage(30, 40) == Usage(31, 42)
