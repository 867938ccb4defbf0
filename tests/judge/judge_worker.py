"""A process that judges, for the tests of the cache: URL CACHE CONCURRENCY TEXT…"""

import asyncio
import sys
from pathlib import Path

from zephyrus.judge import make_judge
from zephyrus.judge.base import Claim


async def main(url: str, cache: str, concurrency: int, texts: list[str]) -> None:
    judge = make_judge(f"openai:tiny@{url}", cache=Path(cache), concurrency=concurrency)
    claims = await asyncio.gather(*(judge.claims(text) for text in texts))
    assert all(claims)
    verdicts = await judge.verdicts([Claim(text) for text in texts], "Text 0.")
    print(judge.usage.requests, judge.usage.cached, sum(v.label == "SUPPORTED" for v in verdicts))
    await judge.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
