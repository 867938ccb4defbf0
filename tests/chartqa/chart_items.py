"""A few hand-made items for tests of the environment: two kinds of question, all splits."""

from zephyrus_chartqa.item import ChartSource, Item

TEXT = "24-hour precipitation, mm. Rhine valley: 10 to 20, mean 14.2. Black Forest: 30 to 45."

ITEMS = tuple(
    Item(
        id=f"{kind}-{split}-{number}",
        image_path="",
        category=kind,
        answer=answer,
        split=split,
        question=f"{question} ({number})",
        choices=choices,
        text=TEXT,
        provenance={"template": "by hand"},
    )
    for split in ("train", "validation", "test")
    for number, answer in enumerate("ABCD")
    for kind, question, choices in (
        (
            "rain",
            "Which intensity is reached over the Rhine valley?",
            ("Light rain", "Moderate rain", "Heavy rain", "Rainstorm"),
        ),
        ("max_temp", "What is the highest temperature?", ("18 °C", "23 °C", "28 °C", "33 °C")),
    )
)


def think(reasoning, answer):
    return f"<think>{reasoning}</think><answer>{answer}</answer>"


def demo_item(split="test"):
    """An item whose chart is drawn from the demo data."""
    from zephyrus_chartqa.fields import chart_leads
    from zephyrus_geodata import load_dataset

    data = load_dataset("demo")
    name = data.forecasts[0]
    lead = chart_leads(data.forecast(name), "max_temp")[-1]
    source = ChartSource("max_temp", "demo", name, (lead - 24, lead), "Europe", seed=3)
    choices = ("1 °C", "2 °C")
    return Item("m", "", "max_temp", "B", split, "How warm?", choices, TEXT, source)
