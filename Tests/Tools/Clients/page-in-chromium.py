"""Opens a page in Debian's Chromium with the DevTools protocol, waits for a text, and reports how the page shows all texts.

Usage: page-in-chromium.py URL TEXT. Prints "ready" once the page is loaded, and one JSON object once it shows TEXT: the titles
of the notifications, and any effects that a text must not have.
"""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time

LOOK = """
(() => {
  if (!document.body?.textContent.includes(%s)) return null;
  const inside = (box, around) => box.left >= around.left - 1 && box.right <= around.right + 1
    && box.top >= around.top - 1 && box.bottom <= around.bottom + 1;
  const notifications = [...document.querySelectorAll(".phone li")];
  return JSON.stringify({
    headings: [...document.querySelectorAll(".heading")].map((heading) => heading.textContent),
    elements: [...new Set([...document.querySelectorAll("*")].map((found) => found.localName))].sort(),
    scripts: document.scripts.length,
    ran: window.ran === true,
    inside: notifications.every((box) => [...box.children].every((child) =>
      inside(child.getBoundingClientRect(), box.getBoundingClientRect()))),
    noteDirections: [...new Set([...document.querySelectorAll(".phone .note")].map((note) => getComputedStyle(note).direction))],
  });
})()
"""


class Chromium:
    def __init__(self, profile):
        # The browser uses descriptors 3 and 4 as the protocol's two pipes.
        (its_input, self.output), (self.input, its_output) = os.pipe(), os.pipe()
        its = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (its_input, its_output)]
        words = ["chromium", "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--disable-gpu"]
        words += ["--no-first-run", "--no-proxy-server", "--disable-background-networking", "--disable-dev-shm-usage"]
        # Its sandbox doesn't work for root.
        words += ["--no-sandbox"] if os.geteuid() == 0 else []
        shell = f'exec "$@" 3<&{its[0]} 4>&{its[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "_", *words], pass_fds=its, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (its_input, its_output, *its):
            os.close(end)
        self.rest, self.number, self.events, self.session = b"", 0, [], None

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.input, 65536)
            if not more:
                raise EOFError("Chromium has ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return result["result"].get("value")

    def until(self, script):
        """Repeats a script until it returns a value. The page reloads every second, which ends the script."""
        while True:
            with contextlib.suppress(SystemExit):
                if found := self.evaluate(script):
                    return found
            time.sleep(0.01)


def main(url, text):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(profile)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Log", "Runtime"):
                browser.call(f"{domain}.enable")
            browser.call("Page.navigate", url=url)
            browser.until('document.querySelector("h1") !== null')
            print("ready", flush=True)
            seen = json.loads(browser.until(LOOK % json.dumps(text)))
            named = [event["params"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
            seen["requests"] = sorted({found["request"]["url"] for found in named})
            seen["dialogs"] = sum(event.get("method") == "Page.javascriptDialogOpening" for event in browser.events)
            logged = [event["params"]["entry"]["text"] for event in browser.events if event.get("method") == "Log.entryAdded"]
            seen["complaints"] = logged
            print(json.dumps(seen), flush=True)
        finally:
            # The browser ends its own processes, which write to the profile.
            browser.session = None
            with contextlib.suppress(SystemExit, EOFError, OSError):
                browser.call("Browser.close")
                browser.process.wait(60)
            browser.process.kill()
            browser.process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
