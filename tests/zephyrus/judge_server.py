"""What a judge model would answer, scripted: for `openai_server.OpenAIServer` in evaluation tests.

Sentences are claims; a claim is SUPPORTED if the text has it, REFUTED if it has it with "not ",
else NEUTRAL; a criterion scores by the words of the report and its own name. The same request is
always answered in the same way, so that two evaluations can be compared exactly.
"""

import json
import re

from openai_server import say

_BLOCK = re.compile(r"<<<(\w+) [0-9a-f]+>>>\n(.*?)\n<<<END \1 [0-9a-f]+>>>", re.DOTALL)
_CRITERIA = re.compile(r"Score the report on: (.*?)\.")


def sentences(text):
    return [part.strip() for part in text.split(".") if part.strip()]


def answer(body):
    """The assistant message for one request of an `LLMJudge`."""
    asked = body["messages"][-1]["content"]
    request = re.search(r"The id of this request is ([0-9a-f]+)", asked)[1]
    blocks = dict(_BLOCK.findall(asked))
    if "CLAIMS" in blocks:
        found = {s.lower() for s in sentences(blocks["TEXT"])}
        rows = []
        for number, claim in re.findall(r"^(\d+)\. (.*)$", blocks["CLAIMS"], re.MULTILINE):
            low = claim.lower()
            label = (
                "SUPPORTED" if low in found else "REFUTED" if f"not {low}" in found else "NEUTRAL"
            )
            rows.append({"index": int(number), "rationale": "so", "evidence": "", "label": label})
        reply = {"id": request, "verdicts": rows}
    elif "REPORT" in blocks:
        words = len(blocks["REPORT"].split())
        reply = {
            "id": request,
            "criteria": {
                key: {"rationale": "words", "score": 1 + (words + len(key)) % 10}
                for key in _CRITERIA.search(asked)[1].split(", ")
            },
        }
    else:
        rows = [{"quote": s, "claim": s} for s in sentences(blocks["TEXT"])]
        reply = {"id": request, "claims": rows}
    return say(json.dumps(reply))
