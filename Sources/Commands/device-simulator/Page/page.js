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
