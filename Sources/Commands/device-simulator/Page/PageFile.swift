/// The page's three files: each has its own, so that nothing inline need be allowed.
enum PageFile: Equatable, Sendable {
    case html, style, script

    var type: String {
        switch self {
        case .html: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        }
    }

    var text: String {
        switch self {
        case .html: Self.htmlText
        case .style: Self.styleText
        case .script: Self.scriptText
        }
    }

    private static let htmlText = """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Sealed Push</title>
        <link rel="stylesheet" href="page.css">
        <script src="page.js" defer></script>
        <header><h1 id="title"></h1><p id="state" role="status">Connecting ...</p></header>
        <main>
        <section id="tables" aria-label="Counts"></section>
        <section id="phones" aria-label="Lock screens"></section>
        <section aria-label="Newest first"><ol id="lines"></ol></section>
        </main>
        </html>

        """

    private static let styleText = """
        :root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
        body { margin: 1.5rem; max-width: 80rem; }
        h1 { font-size: 1.3rem; margin: 0; }
        h2 { font-size: 1rem; margin: 0 0 .5rem; }
        #state { color: GrayText; margin: .2rem 0 1.5rem; }
        #tables, #phones { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; margin-bottom: 1.5rem; }
        td:last-child { text-align: right; padding-left: 1.5rem; font-variant-numeric: tabular-nums; }
        .phone { width: 20rem; padding: 1rem; border-radius: 1.5rem; background: #223; color: #fff; }
        .phone li { list-style: none; background: #ffffff26; border-radius: 1rem; padding: .6rem .8rem; margin-top: .5rem; }
        .phone ol, #lines { padding: 0; margin: 0; }
        .phone p { margin: 0; }
        /* A text stays in its own box, whatever it is made of. */
        .text { unicode-bidi: isolate; overflow-wrap: anywhere; white-space: pre-line; overflow: hidden; max-height: 8.4em; }
        .subtitle, .heading { font-weight: 600; }
        .note { font-size: .8rem; opacity: .8; }
        #lines { font-family: ui-monospace, monospace; font-size: .85rem; list-style: none; }
        .good { color: #2a9d4b; } .bad { color: #d9483b; }
        .phone .good { color: #7fe0a0; } .phone .bad { color: #ffa59b; }

        """

    private static let scriptText = """
        "use strict";
        // Whatever comes is text: it is set as such, and nothing is made of it.
        const byID = (name) => document.getElementById(name);
        const element = (kind, name, text) => {
          const made = document.createElement(kind);
          if (name) made.className = name;
          if (text !== undefined) {
            made.textContent = text;
            made.dir = "auto";
          }
          return made;
        };
        const boxes = new Map();
        /// The box of this name in a section: the one that is there, emptied, or a new one.
        const box = (section, kind, name) => {
          const key = kind + " " + name;
          if (!boxes.has(key)) {
            boxes.set(key, element("div", kind));
            byID(section).append(boxes.get(key));
          }
          const found = boxes.get(key);
          found.replaceChildren(element("h2", "text", name));
          return found;
        };
        const show = {
          begin(event) {
            boxes.clear();
            for (const name of ["tables", "phones", "lines"]) byID(name).replaceChildren();
            byID("title").textContent = event.title;
            document.title = event.title;
          },
          table(event) {
            const table = element("table");
            for (const [name, value] of event.rows) {
              table.insertRow().append(element("td", "text", name), element("td", "text", value));
            }
            box("tables", "table", event.name).append(table);
          },
          phone(event) {
            const list = element("ol");
            for (const shown of event.notifications) {
              const item = element("li");
              if (shown.title) item.append(element("p", "text heading", shown.title));
              if (shown.subtitle) item.append(element("p", "text subtitle", shown.subtitle));
              if (shown.body) item.append(element("p", "text", shown.body));
              item.append(element("p", "text note " + shown.tone, shown.note));
              list.append(item);
            }
            box("phones", "phone", event.name).append(list);
          },
          line(event) {
            const time = new Date(event.time * 1000).toLocaleTimeString();
            const line = element("li", "text " + event.tone, time + "  " + event.text);
            byID("lines").prepend(line);
            while (byID("lines").childElementCount > 200) byID("lines").lastChild.remove();
          },
        };
        const events = new EventSource("events");
        events.onopen = () => { byID("state").textContent = "Live"; };
        events.onerror = () => { byID("state").textContent = "The program is not running, or has begun anew: see its address."; };
        events.onmessage = (message) => {
          const event = JSON.parse(message.data);
          if (Object.hasOwn(show, event.kind)) show[event.kind](event);
        };

        """
}
