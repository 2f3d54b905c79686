"""Files of records as other programs write them: what is read, what is left out, what is refused.

Files that a tool wrote stand here as it wrote them, the tool named beside them.
"""

import gzip
import json
import sys
import types

import pandas
import pytest

from sbd_core.__main__ import main
from sbd_core.decoding.prompt_files import read_prompts
from sbd_core.errors import ArgumentError
from sbd_core.training.data import Skipped, read_source

HELLO = [((("user", "Hi"),), "Hello.")]
SHAREGPT = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
CALL = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}

# datasets 5.2.0: Dataset.from_list(...).to_json("a.jsonl"), which writes a null for what a record
# has none of.
DATASETS_LINES = (
    '{"messages":[{"role":"user","content":"Weather?","tool_calls":null},{"role":"assistant",'
    '"content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]},'
    '{"role":"tool","content":"20","tool_calls":null},{"role":"assistant","content":"20 degrees.",'
    '"tool_calls":null}],"prompt":null,"answer":null}\n'
    '{"messages":[{"role":"user","content":"Hi","tool_calls":null},{"role":"assistant","content":'
    '"Hello.","tool_calls":null}],"prompt":null,"answer":null}\n'
    '{"messages":null,"prompt":"2 + 2","answer":"4"}\n'
)
ALPACA = pandas.DataFrame(
    [
        {"instruction": 'Say "hi",\nplease', "input": "", "output": "hi"},
        {"instruction": "Add", "input": "1, 2", "output": "3"},
        {"instruction": "Fill", "input": None, "output": None},
    ]
)
ALPACA_READ = [((("user", 'Say "hi",\nplease'),), "hi"), ((("user", "Add\n1, 2"),), "3")]


def read(path, data: str | bytes | object):
    """(messages, answer) of each record of a file of that content, and the notes."""
    if not isinstance(data, str | bytes):
        data = json.dumps(data)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    skipped = Skipped(f"file:{path}")
    records = read_source(f"file:{path}", skipped)
    return [(each.messages, each.answer) for each in records], skipped.notes()


@pytest.mark.parametrize(
    "record",
    [
        {"conversations": SHAREGPT},
        {"messages": CHAT},
        {"messages": SHAREGPT, "conversations": None, "prompt": None, "text": "x"},
        {"instruction": "Hi", "input": "", "output": "Hello."},
        {"instruction": "", "input": "Hi", "output": "Hello.", "history": [], "system": ""},
        {"prompt": "Hi", "answer": "Hello."},
        {"question": "Hi", "answer": "Hello."},
        {"prompt": CHAT[:1], "completion": CHAT[1:]},
        {"messages": [{"role": "User", "content": "Hi"}, {"role": "bot", "content": "Hello."}]},
        {"messages": [{**CHAT[0], "content": [{"type": "text", "text": "Hi"}]}, CHAT[1]]},
        {"messages": CHAT, "tools": "[]"},
    ],
)
def test_every_usual_shape_is_the_same_chat_as_array_lines_and_compressed(tmp_path, record) -> None:
    for name in ("a.json", "a.jsonl"):
        for data in (
            [record],
            f"\ufeff{json.dumps(record)}\r\n\r\n",
            json.dumps([record], indent=1),
        ):
            assert read(tmp_path / name, data) == (HELLO, [])
    packed = gzip.compress(json.dumps(record).encode())
    assert read(tmp_path / "a.jsonl.gz", packed) == (HELLO, [])


def test_system_and_history_are_part_of_what_is_answered(tmp_path) -> None:
    row = {"instruction": "B", "output": "b", "system": "Be brief.", "history": [["A", "a"]]}
    system, asked = ("system", "Be brief."), ("user", "A")
    assert read(tmp_path / "a.json", [row])[0] == [
        ((system, asked), "a"),
        ((system, asked, ("assistant", "a"), ("user", "B")), "b"),
    ]
    row = {"conversations": SHAREGPT, "system": "Be brief."}
    assert read(tmp_path / "a.json", [row])[0] == [((system, ("user", "Hi")), "Hello.")]


def test_what_datasets_writes_is_read(tmp_path) -> None:
    found, [note] = read(tmp_path / "a.jsonl", DATASETS_LINES)
    assert found == [*HELLO, ((("user", "2 + 2"),), "4")]
    assert "left out 2 that call tools" in note
    assert "line 1" in note


def test_what_pandas_writes_is_read(tmp_path) -> None:
    written = {
        "a.csv": ALPACA.to_csv(index=False),
        "b.csv": ALPACA.to_csv(lineterminator="\r\n").encode("utf-8-sig"),
        "a.tsv": ALPACA.to_csv(sep="\t"),
        "a.json": ALPACA.to_json(orient="records", force_ascii=False, indent=1),
        "a.jsonl": ALPACA.to_json(orient="records", lines=True),
        "nan.json": json.dumps(
            ALPACA.astype(object).where(ALPACA.notna(), float("nan")).to_dict("records")
        ),
    }
    assert "NaN" in written["nan.json"]
    for name, data in written.items():
        found, [note] = read(tmp_path / name, data)
        assert found == ALPACA_READ, name
        assert "left out 1 that are empty" in note
    with pytest.raises(ArgumentError, match="line 1 must have text as instruction"):
        read(tmp_path / "columns.json", ALPACA.to_json())


def test_long_cells_of_a_table_are_read(tmp_path) -> None:
    frame = pandas.DataFrame([{"text": "long " * 40_000}])
    assert read(tmp_path / "a.csv", frame.to_csv())[0] == [((), "long " * 40_000)]


def test_a_parquet_file_is_read_where_pyarrow_is_and_refused_by_name_else(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ArgumentError, match="pip install pyarrow; got") as caught:
        read(tmp_path / "a.parquet", b"PAR1")
    assert str(caught.value.value).endswith("a.parquet")
    package, part = types.ModuleType("pyarrow"), types.ModuleType("pyarrow.parquet")
    table = types.SimpleNamespace(to_pylist=lambda: [{"conversations": SHAREGPT}])
    package.ArrowException, part.read_table = (
        type("ArrowException", (Exception,), {}),
        lambda path: table,
    )
    monkeypatch.setitem(sys.modules, "pyarrow", package)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", part)
    assert read(tmp_path / "a.parquet", b"PAR1") == (HELLO, [])


def test_what_datasets_saves_is_read_by_the_library_itself(tmp_path) -> None:
    """datasets 5.2.0: to_parquet(), and the folders of both save_to_disk()."""
    datasets = pytest.importorskip("datasets", reason="hf: sources need pip install datasets")
    rows = datasets.Dataset.from_list([{"messages": CHAT}, {"messages": CHAT}])
    rows.to_parquet(tmp_path / "a.parquet")
    rows.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(tmp_path / "both")
    for source in (f"file:{tmp_path}/a.parquet", *(f"hf:{tmp_path}/{n}" for n in ("one", "both"))):
        records = read_source(source, Skipped(source))
        assert [(each.messages, each.answer) for each in records] == HELLO * 2
    with pytest.raises(ArgumentError, match="dataset that can be loaded"):
        read_source(f"hf:{tmp_path}/one:test", Skipped(""))


def test_a_folder_is_no_file_of_records_and_says_how_one_of_datasets_is_named(tmp_path) -> None:
    for name in ("saved", "saved.json"):
        (tmp_path / name).mkdir()
        with pytest.raises(ArgumentError, match=r"a folder of save_to_disk\(\) is hf:FOLDER"):
            read_source(f"file:{tmp_path / name}", Skipped(""))


@pytest.mark.parametrize(
    ("turns", "count", "reason"),
    [
        # openai 3.57.0: ChatCompletionMessage.model_dump_json()
        ([CHAT[0], json.loads(
            '{"content":null,"refusal":null,"role":"assistant","annotations":null,"audio":null,'
            '"function_call":null,"tool_calls":[{"id":"1","function":{"arguments":"{}","name":'
            '"weather"},"type":"function"}]}')], 1, "call tools"),
        ([CHAT[0], {"role": "assistant", "tool_calls": [CALL]},
          {"role": "tool", "tool_call_id": "1", "content": "20"}, CHAT[1]], 2, "call tools"),
        # LLaMA-Factory 0.9.5: roles of its sharegpt format, llamafactory/data/parser.py.
        ([{"from": "human", "value": "Weather?"}, {"from": "function_call", "value": "{}"},
          {"from": "observation", "value": "20"}, {"from": "gpt", "value": "20"}], 2, "call tools"),
        # ms-swift 4.6.0: roles of swift/dataset/preprocessor/core.py.
        ([CHAT[0], {"role": "tool_call", "content": "{}"},
          {"role": "tool_response", "content": "20"}, CHAT[1]], 2, "call tools"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]}, CHAT[1]],
         1, "hold other than text"),
        ([CHAT[0], {**CHAT[1], "reasoning_content": "They greet."}], 1, "think apart"),
        ([CHAT[0], {**CHAT[1], "content": " "}], 1, "are empty"),
        ([{"role": "system", "content": "Be brief."}], 1, "have no answer"),
        (SHAREGPT[::-1], 1, "have no answer"),
        ([], 1, "have no answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_is_left_out_and_counted(tmp_path, turns, count, reason) -> None:
    found, [note] = read(tmp_path / "a.json", [{"messages": CHAT}, {"messages": turns}])
    assert found == HELLO
    assert f"left out {count} that" in note
    assert reason in note
    with pytest.raises(ArgumentError, match=f"something to learn; .*{reason}"):
        read(tmp_path / "a.json", [{"messages": turns}])


@pytest.mark.parametrize("field", ["images", "videos", "audios"])
def test_a_chat_about_pictures_is_counted_and_one_without_any_is_learnt(tmp_path, field) -> None:
    """LLaMA-Factory 0.9.5 (data/parser.py) and ms-swift 4.6.0: <image> in a text, files beside."""
    shown = [{"role": "user", "content": "<image>Who?"}, CHAT[1]]
    rows = [{"messages": CHAT, field: []}, {"messages": shown, field: ["a"]}]
    found, [note] = read(tmp_path / "a.json", rows)
    assert found == HELLO
    assert "left out 1 that" in note
    assert note.endswith("record 2")


@pytest.mark.parametrize(
    "mark",
    [
        {"weight": 0},
        {"train": False},
        {"loss": False},
        {"content": [{"type": "text", "text": "Hello.", "train": False}]},
        {"content": [{"type": "text", "text": "Hello", "weight": 1},
                     {"type": "text", "text": ".", "weight": 0}]},
        {"train_detail": [{"begin_offset": 0, "end_offset": 2, "train": False}]},
    ],
)  # fmt: skip
def test_an_answer_that_is_marked_as_not_to_be_learnt_is_context_alone(tmp_path, mark) -> None:
    """OpenAI's fine-tuning format; axolotl 0.19.0, prompt_strategies/chat_template.py (fields of a
    message, of a part of its content and of message_field_training_detail); ms-swift 4.6.0,
    swift/dataset/preprocessor/core.py (loss).
    """
    turns = [CHAT[0], {**CHAT[1], **mark}, {"role": "user", "content": "And?"}, CHAT[1]]
    [(messages, _)], _ = read(tmp_path / "a.jsonl", {"messages": turns})
    assert messages == (("user", "Hi"), ("assistant", "Hello."), ("user", "And?"))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.json", [{"chosen": CHAT, "rejected": CHAT}], "record 1 must have an answer to learn"),
        # trl 1.16.0, trainer/kto_trainer.py; LLaMA-Factory 0.9.5, data/converter.py.
        ("a.json", [{"prompt": CHAT[:1], "completion": CHAT[1:], "label": False}], "not a prefer"),
        ("a.json", [{"messages": CHAT, "label": False}], "not a preference"),
        ("a.json", [{"conversations": SHAREGPT, "chosen": SHAREGPT[1]}], "not a preference"),
        # ms-swift 4.6.0, swift/dataset/preprocessor/core.py: that of DPO. Oasst1's messages.
        # LLaMA-Factory's comparison_gpt4_en.json.
        ("a.jsonl", {"messages": CHAT, "rejected_response": "Bye."}, "not a preference"),
        ("a.jsonl", {"message_id": "1", "text": "Hi", "role": "prompter"}, "must be a whole chat"),
        ("a.json", [{"instruction": "Hi", "input": "", "output": ["A", "B"]}], "not a list"),
        ("a.json", {"data": [{"messages": CHAT}]}, r"line 1 needs messages.*got {'data'"),
        ("a.jsonl", {"prompt": "a", "text": "b", "num_forwards": 3}, "line 1 needs messages"),
        ("a.json", '[\n{"text": "a"},\n]', "line 3 must be JSON"),
        ("a.json", '[\n{"text": "a"}', "line 2 must be JSON"),
        ("a.json", '[\n{"text": "a"}]\n{"text": "b"}', "line 3 must be JSON .Extra data"),
        ("a.jsonl", '{"text": "a"},\n{"text": "b"}', "line 1 must be JSON"),
        ("a.json", [], "must hold something to learn"),
        ("a.txt", "", "must hold something to learn"),
        ("a.txt", b"one\ntwo \xff", "line 2 must be UTF-8 text"),
        ("a.jsonl", '{"text": "a"}\n{"text": "b"', "line 2 must be JSON"),
        ("a.jsonl", "[" * 100_000, "line 1 must be JSON"),
        ("a.jsonl", '{"text": "a"}\n\n["a"]', "line 3 needs messages"),
        ("a.jsonl", {"prompt": "a", "answer": 4}, "line 1 must have text as content of message 2"),
        ("a.jsonl", {"messages": "hello"}, "must have a list as messages; got 'hello'"),
        ("a.jsonl", {"messages": [*CHAT, "a"]}, "in message 3; got 'a'"),
        ("a.jsonl", '{"text": "\\ud800"}', "line 1 must have text as text"),
        ("a.csv", "", "must hold something to learn"),
        ("a.csv", "prompt;answer\na;b\n", "line 2 needs messages"),
        ("a.csv", 'prompt,answer\na,"b\nc,d\n', "line 2 must be CSV"),
        ("a.csv", "prompt,answer\na,b,c\n", "line 2 must have the 2 cells of the header"),
        ("a.csv", "messages\n\"[{'role': 'user'}]\"\n", "line 2 must have a list as messages"),
        ("a.jsonl.gz", b"\x1f\x8b\x08broken", "file that can be read"),
        ("a.md", "# Title", r"must be a file that ends in \.txt, \.json"),
        ("a", "text", "must be a file that ends in"),
        (
            "a.jsonl",
            {"messages": [{"role": "narrator", "content": "a"}]},
            "role of message 1 one of",
        ),
    ],
)
def test_what_has_no_known_shape_is_refused_in_one_sentence(tmp_path, name, data, message) -> None:
    with pytest.raises(ArgumentError, match=message) as caught:
        read(tmp_path / name, data)
    assert caught.value.argument == "data"
    assert name in f"{caught.value} {caught.value.value}"
    assert "\n" not in str(caught.value)


def test_files_of_prompts_are_read_in_the_same_shapes(tmp_path) -> None:
    path = tmp_path / "a.json"
    rows = [{"conversations": SHAREGPT}, {"instruction": "Add", "input": "1, 2"}, {"prompt": "Hi"}]
    rows += [{"question": "Why?", "score": float("nan")}, {"messages": [*CHAT, *CHAT]}]
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    path.write_text(json.dumps([{"messages": [CHAT[0], call, {"role": "tool", "content": "2"}]}]))
    assert [row["prompt"] for row in read_prompts("prompts", path)] == ["Hi"]
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]}
    for turns in ([*CHAT, call], [*CHAT, image], [image]):
        path.write_text(json.dumps([{"messages": turns}]))
        with pytest.raises(ArgumentError, match="record 1 needs a prompt"):
            read_prompts("prompts", path)


ASKED = {"question": "Which?", "answer": "It."}


@pytest.mark.parametrize(
    ("beside", "prompt"),
    [
        ({"context": "Light."}, "Which?\nLight."),  # SQuAD's
        ({"input": "1", "context": "2"}, "Which?\n1\n2"),
        ({"context": ["One.", "Two."]}, "Which?\nOne.\nTwo."),
        ({"choices": ["red", "blue"]}, "Which?\nA. red\nB. blue"),  # MMLU's
        ({"choices": {"text": ["red", "blue"], "label": ["1", "2"]}}, "Which?\n1. red\n2. blue"),
        ({"context": "Light.", "choices": ["red"]}, "Which?\nLight.\nA. red"),
        ({"instances": [{"input": "Light."}]}, "Which?\n\nLight."),
        ({"context": None, "choices": []}, "Which?"),
    ],
)
def test_what_stands_beside_a_question_is_part_of_the_prompt(beside, prompt, tmp_path) -> None:
    [(messages, _)], notes = read(tmp_path / "a.json", [{**ASKED, **beside}])
    assert messages == (("user", prompt),)
    assert notes == []
    assert [row["prompt"] for row in read_prompts("prompts", tmp_path / "a.json")] == [prompt]


@pytest.mark.parametrize(
    "beside", [{"context": {"title": ["a"]}}, {"choices": [1, 2]}, {"choices": {"text": ["a"]}}]
)
def test_what_stands_beside_a_question_and_is_no_text_is_refused(beside, tmp_path) -> None:
    with pytest.raises(ArgumentError, match=f"record 1 must have .* as {min(beside)}"):
        read(tmp_path / "a.json", [{**ASKED, **beside}])


def test_fields_that_nothing_reads_are_named_once(tmp_path, capsys) -> None:
    rows = [{**ASKED, "id": 1, "hint": "Look up."}, {**ASKED, "id": 2, "source": "", "n": None}]
    _, [note] = read(tmp_path / "a.json", rows)
    assert note.endswith("fields that are not read: hint, id")
    words = ["--prompts", str(tmp_path / "a.json"), "--out", str(tmp_path / "out.jsonl")]
    assert main(["generate", *words, "--max-new-tokens", "2"]) == 0
    said = capsys.readouterr().err
    assert said.count("note: fields that are no part of a prompt: hint, id\n") == 1
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in written] == [1, 2]
