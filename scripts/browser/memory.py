"""What a page and its worker hold, by Chromium's own tools. Knows heaps, no decodes.

A collection of garbage leaves what was made while it ran: the page draws up to a megabyte of that a
frame while it plays, a quarter of all that it holds. So a page is read that stands still, several
times, each time after a collection, and the least counts.
"""

import json
from typing import Any

STAND_STILL = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  player.set({ isPlaying: false, pass: player.run.main.lastPass });
}"""
COLLECT, USAGE = "HeapProfiler.collectGarbage", "Runtime.getHeapUsage"
READINGS = 8
PAUSE_MS = 250


def memory(page: Any) -> dict[str, int]:
    """Bytes of scripts' objects and code, of the page and of its worker, and the page's nodes."""
    page.evaluate(STAND_STILL)
    readings = []
    for _ in range(READINGS):
        page.wait_for_timeout(PAUSE_MS)
        readings.append(_reading(page))
    return {name: min(each[name] for each in readings) for name in readings[0]}


def _reading(page: Any) -> dict[str, int]:
    tools = page.context.new_cdp_session(page)
    tools.send(COLLECT)
    heap = tools.send(USAGE)["usedSize"]
    nodes = tools.send("Memory.getDOMCounters")["nodes"]
    tools.detach()
    return {"page_bytes": int(heap), "worker_bytes": _worker_heap(page), "nodes": int(nodes)}


def _worker_heap(page: Any) -> int:
    """Of the workers of the browser that has this page alone."""
    tools = page.context.browser.new_browser_cdp_session()
    targets = tools.send("Target.getTargets")["targetInfos"]
    heaps = [_heap_of(page, tools, one["targetId"]) for one in targets if one["type"] == "worker"]
    tools.detach()
    return sum(heaps)


def _heap_of(page: Any, tools: Any, target: str) -> int:
    """Of one worker. Playwright speaks to workers in its own words only, so these are passed on."""
    answers: dict[int, Any] = {}

    def take(event: Any) -> None:
        said = json.loads(event["message"])
        answers[said.get("id")] = said.get("result")

    session = tools.send("Target.attachToTarget", {"targetId": target, "flatten": False})
    tools.on("Target.receivedMessageFromTarget", take)
    for number, method in enumerate((COLLECT, USAGE)):
        message = json.dumps({"id": number, "method": method})
        tools.send(
            "Target.sendMessageToTarget", {"sessionId": session["sessionId"], "message": message}
        )
    while 1 not in answers:
        page.wait_for_timeout(10)
    tools.remove_listener("Target.receivedMessageFromTarget", take)
    tools.send("Target.detachFromTarget", {"sessionId": session["sessionId"]})
    return int(answers[1]["usedSize"])
