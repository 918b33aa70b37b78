"""Pages that need no network: what the theme and its plugins would fetch from elsewhere is left out or put in.

Charts are put into the page itself, so that their words have its colour, light or dark.

The theme searches in a worker, which a page that was opened from the disk may not start. There a hidden frame does the
same work.
"""

import re
from pathlib import Path
from typing import Any

FRAME = """<script>
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.importScripts = () => {};
      const script = this.inside.document.createElement("script");
      script.src = address;
      this.ready = new Promise((done) => { script.onload = done; });
      this.inside.document.body.appendChild(script);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
</script>"""
SHIM = re.compile(r'<script src="https://[^"]+/iframe-worker/shim"></script>')
DRAWINGS = re.compile(r"<script\b[^>]*>(?:(?!</script>).)*cdnjs(?:(?!</script>).)*</script>", re.DOTALL)


CHART = re.compile(r'<img alt="([^"]*)" src="(?:\.\./)*(images/charts/[\w-]+\.svg)"[^>]*>')
STYLE = re.compile(r"<style>.*?</style>")


def put_in(found: re.Match[str]) -> str:
    """The drawing of a chart instead of the address of its file."""
    drawing = STYLE.sub("", (Path(__file__).parent / found[2]).read_text())
    return drawing.replace('role="img"', f'role="img" aria-label="{found[1]}"', 1)


def on_post_page(output: str, **_: Any) -> str:
    """What MkDocs calls with every page that is done."""
    return CHART.sub(put_in, DRAWINGS.sub("", SHIM.sub(lambda _: FRAME, output)))


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for pages that are of the theme alone, such as that of an address which leads nowhere."""
    return on_post_page(output_content)
