"use strict";
// As much of a browser as page.js asks for. Each line of the input is {"script", "data", "asks"}: the page is made
// of the first two, and each ask is an expression in its scope. The line of the output has their results.
class Element {
  constructor(tag) { this.tag = tag; this.attrs = new Map(); this.kids = []; this.on = {}; this.css = new Map(); }
  get style() { return { setProperty: (k, v) => this.css.set(k, v) }; }
  get id() { return this.attrs.get("id") || ""; }
  get hidden() { return this.attrs.has("hidden"); }
  set hidden(is) { if (is) this.attrs.set("hidden", ""); else this.attrs.delete("hidden"); }
  get className() { return this.attrs.get("class") || ""; }
  get value() { return this.attrs.get("value"); }
  set value(v) { this.attrs.set("value", v); }
  get dataset() { return { core: this.attrs.get("data-core") }; }
  get classList() {
    const of = new Set(this.className.split(" ").filter(Boolean));
    const put = (c, on) => { if (on) of.add(c); else of.delete(c); this.attrs.set("class", [...of].join(" ")); };
    return { add: (c) => put(c, true), toggle: put };
  }
  get textContent() { return this.kids.map((k) => (k instanceof Element ? k.textContent : k)).join(""); }
  set textContent(text) { this.replaceChildren(text); }
  get clientWidth() { return 0; }
  setAttribute(k, v) { this.attrs.set(k, String(v)); }
  removeAttribute(k) { this.attrs.delete(k); }
  addEventListener(name, f) { this.on[name] = f; }
  append(...kids) {
    for (const k of kids) {
      if (k instanceof Element) k.parent = this;
      this.kids.push(k instanceof Element ? k : String(k));
    }
  }
  replaceChildren(...kids) { this.kids = []; this.append(...kids); }
  replaceWith(e) { e.parent = this.parent; this.parent.kids[this.parent.kids.indexOf(this)] = e; }
  scrollIntoView() {}
  focus() { Element.focused = this; }
  getBoundingClientRect() { return { left: 0, width: 900 }; }
  *all() { for (const k of this.kids) if (k instanceof Element) { yield k; yield* k.all(); } }
  matches(one) {
    const [, tag, rest] = one.match(/^([a-z0-9]*)(.*)$/);
    const parts = [...rest.matchAll(/(:not\()?([#.[])([^#.[\])=:]+)(?:="([^"]*)")?\]?\)?/g)];
    return (!tag || tag === this.tag) && parts.every(([, not, sign, word, v]) => {
      const has = { "#": this.id === word, ".": this.className.split(" ").includes(word), "[": this.attrs.get(word) === v };
      return has[sign] !== Boolean(not);
    });
  }
  querySelectorAll(path) {
    const [first, ...rest] = path.split(" "), found = [...this.all()].filter((e) => e.matches(first));
    return rest.length ? found.flatMap((e) => e.querySelectorAll(rest.join(" "))) : found;
  }
  querySelector(path) { return this.querySelectorAll(path)[0] || null; }
}
// spell writes an element: its name and classes, what it has and what is in it, in a line if there is room.
function spell(e, indent = "") {
  if (!(e instanceof Element)) return JSON.stringify(e);
  const dull = (k) => /^(class|role|type|aria-(label|hidden|live))$/.test(k) || (k === "tabindex" && !e.dataset.core);
  const said = [...e.attrs].filter(([k]) => !dull(k)).map(([k, v]) => (v === "" ? k : `${k}=${v}`));
  for (const [k, v] of e.css) said.push(`${k}: ${v}`);
  const head = [e.tag, ...e.className.split(" ").filter(Boolean)].join(".") + (said.length ? ` [${said.join("; ")}]` : "");
  const line = head + (e.kids.length ? " { " + e.kids.map((k) => spell(k)).join(" ") + " }" : "");
  if (line.length + indent.length < 150 || !e.kids.length) return line;
  return [head, ...e.kids.map((k) => indent + "  " + spell(k, indent + "  "))].join("\n");
}
// page runs the script on a page with a data block, and returns its ask, which evaluates an expression in its scope.
function page(script, data) {
  const body = new Element("body"), view = new Element("div"), block = new Element("script"), out = {};
  view.setAttribute("id", "view");
  block.setAttribute("id", "data");
  block.append(data);
  body.append(view, block);
  const document = {
    getElementById: (id) => body.querySelector("#" + id),
    createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag),
    querySelector: (path) => body.querySelector(path), querySelectorAll: (path) => body.querySelectorAll(path),
  };
  const all = (path, text) => body.querySelectorAll(path).filter((e) => text === undefined || e.textContent === text);
  const fire = (name, path, text, event) => {
    const e = all(path, text)[0];
    e.on[name]({ target: e, preventDefault() {}, ...event });
  };
  const given = {
    document, window: { innerWidth: 1280, addEventListener() {} }, requestAnimationFrame() {}, out,
    URLSearchParams, location: { hash: "" }, Element, spell, fire,
    setTimeout: (f) => f(), clearTimeout() {}, history: { replaceState: (_, __, url) => { out.url = url; } },
    show: (path, text) => all(path, text).map((e) => spell(e)).join("\n"),
    click: (path, text, event) => fire("click", path, text, event),
    put: (name, path, value) => { all(path)[0].value = value; fire(name, path); },
  };
  const open = script.replace(/\}\)\(\);\s*$/, "out.ask = (text) => eval(text);\n})();");
  new Function(...Object.keys(given), open)(...Object.values(given));
  return out.ask;
}
const written = (v) => {
  if (v instanceof Element) return spell(v);
  return typeof v === "string" ? v : JSON.stringify(v, (_, x) => (typeof x === "bigint" ? x + "n" : x));
};
const tried = (f) => { try { return f(); } catch (e) { return String(e); } };
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { script, data, asks } = JSON.parse(line);
  const ask = tried(() => page(script, data));
  const values = typeof ask === "string" ? [ask] : asks.map((text) => tried(() => ask(text)));
  process.stdout.write(JSON.stringify(values.filter((v) => v !== undefined).map(written)) + "\n");
});
