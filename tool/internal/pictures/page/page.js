"use strict";
(() => {
// The data block: pack.go says how it is packed.
const packed = JSON.parse(document.getElementById("data").textContent);
const opened = new Map();
function unpack(v) {
  if (Array.isArray(v)) return v.map(unpack);
  if (v === null || typeof v !== "object") return v;
  if ("$r" in v) {
    if (!opened.has(v.$r)) opened.set(v.$r, unpack(packed.r[v.$r]));
    return opened.get(v.$r);
  }
  if ("$i" in v) return BigInt(v.$i);
  if ("$t" in v) return v.$t;
  if ("$n" in v) return rowsOf(v.$n, v.$c);
  const out = {};
  for (const k of Object.keys(v)) out[k] = unpack(v[k]);
  return out;
}
const resolved = (v) => ("$r" in v ? packed.r[v.$r] : v);
function rowsOf(n, shared) {
  const rows = Array.from({ length: n }, () => ({})), columns = resolved(shared);
  for (const k of Object.keys(columns)) {
    const column = resolved(columns[k]);
    if (Array.isArray(column)) column.forEach((v, i) => { rows[i][k] = unpack(v); });
    else { const v = unpack(column.$k); for (const row of rows) row[k] = v; }
  }
  return rows;
}
// linked puts what lay there in the place of its number. A sample stands at the counter that was reached, which its own
// may fall behind.
function linked(c) {
  const laid = c.laid.map((p) => ({ ...p, residents: p.residents.map((i) => c.residents[i]) })), of = (numbers) => numbers.map((i) => laid[i]);
  const reached = (list) => { let x = 0; return list.map((s) => ({ ...s, x: x = Math.max(x, Number(s.counter)) })); };
  return { ...c, alike: c.alike.map((a) => ({ ...a, peak_groups: of(a.peak_groups), moments: a.moments.map((m) => ({ ...m, groups: of(m.groups) })), timeline: reached(a.timeline) })) };
}
const doc = unpack(packed.v);
doc.captures = doc.captures.map(linked);

// Text. Names of files are only ever text nodes; what cannot be seen in them is spelled.
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{M}{3,}|\p{Cs}|\p{Co}/gu;
const spelled = (s) => s.replace(hidden, (m) => [...m].map((c) => "\\u{" + c.codePointAt(0).toString(16) + "}").join(""));
function name(s, most = 160) {
  let text = s.replaceAll("tt::tt_metal::", "");
  if (text.length > most) text = text.slice(0, most - 1) + "\u2026";
  return h("bdi", { class: "name" }, spelled(text));
}
const num = (n) => (n === null || n === undefined ? "\u2013" : typeof n === "string" ? n : n.toLocaleString("en-US"));
const signed = (n) => (n > 0 ? "+" : n < 0 ? "\u2212" : "\u00b1") + num(n < 0 ? -n : n);
function rounded(n) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let v = Number(n), i = 0;
  while (v >= 1024 && i < units.length - 1) { v /= 1024; i++; }
  return i ? v.toFixed(1) + " " + units[i] : num(n) + " bytes";
}
function percent(part, whole) {
  if (!whole) return "";
  const p = (100 * Number(part)) / Number(whole);
  if (part > 0 && p < 0.1) return "<0.1%";
  return (part < whole && p > 99.9 ? 99.9 : p).toFixed(1) + "%";
}
// ticks returns round numbers from 0 up: powers of two apart, three to six of them.
function ticks(most) {
  let step = 1;
  while (most / step > 6) step *= 2;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step).map((v) => [v, tickText(v, step)]);
}
// tickText writes a tick in the unit of its step, so that it is exact.
function tickText(v, step) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], i = Math.min(units.length - 1, Math.floor(Math.log2(step) / 10));
  return v ? num(v / 1024 ** i) + " " + units[i] : "0";
}
const plural = (n, noun) => num(n) + " " + noun + (n === 1 ? "" : "s");
const kinds = { cb: "CB", dataflow: "dataflow buffer", scratchpad: "scratchpad", l1: "L1 buffer", l1_small: "L1_SMALL buffer", global_cb: "global CB", dram: "DRAM buffer" };
const kindOf = (k) => kinds[k] || spelled(k).replaceAll("_", " ");
const hue = (k) => (k === "cb" ? "cb" : k === "dataflow" || k === "scratchpad" ? "other" : "l1");
// A program has one of eight colours, by the innermost name of its operation.
const colour = (op) => "p" + ([...op.split(" > ").pop()].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 65521, 0) % 8);
const paint = (r) => hue(r.kind) + (r.program && hue(r.kind) === "cb" ? " " + colour(r.program.op) : "");
// short names a tensor in a picture: the outermost function that made it.
const short = (op, most) => { const text = spelled(op.split(" > ")[0].replaceAll("tt::tt_metal::", "")); return text.length > most ? text.slice(0, most - 1) + "\u2026" : text; };

// Elements.
function h(tag, attrs, ...kids) { return make(document.createElement(tag), attrs, kids); }
function g(tag, attrs, ...kids) { return make(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs, kids); }
function make(e, attrs, kids) {
  for (const [k, v] of Object.entries(attrs || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "css") for (const [p, x] of Object.entries(v)) e.style.setProperty(p, x);
    else e.setAttribute(k, v === true ? "" : v);
  }
  for (const kid of kids.flat(9)) if (kid !== null && kid !== undefined && kid !== false) e.append(kid);
  return e;
}
const section = (id, title, basis, ...kids) => h("section", { id, "aria-label": title }, h("h2", {}, title), basis && h("p", { class: "basis" }, basis), ...kids);
function choice(label, options, chosen, pick) {
  return h("div", { class: "choice noprint", role: "group", "aria-label": label },
    options.map(([value, text]) => h("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => pick(value) }, text)));
}

// What is looked at. Each capture has a headline; the one that is not hidden in the file is of the worst answer.
const headlines = [...document.querySelectorAll(".answer")], worst = Math.max(0, headlines.findIndex((e) => !e.hidden));
const state = { capture: 0, alike: 0, core: null, measure: "tracked", line: "core", table: "programs", only: null, moment: null, asked: null };
// goTo selects a moment: null is the peak. asked is the counter of a link, if the page does not have its moment.
const goTo = (moment, asked = null) => { state.moment = moment; state.asked = asked; };
// What lies on the cores of a device at the moment that is looked at.
const laid = (a) => (state.moment === null ? a.peak_groups : a.moments[state.moment].groups);
const momentOf = (c, a) => (state.moment === null ? (a.l1 && a.l1.core_peak ? "at " + at(c, a.l1.core_peak) + ", the peak of the device" : "at the peak") : "after " + at(c, a.moments[state.moment])) + instead(c, a);
function instead(c, a) {
  if (state.asked === null) return "";
  const shown = state.moment === null ? a.l1 && a.l1.core_peak : a.moments[state.moment], word = nodeWord(c) + " " + state.asked;
  return shown && shown.counter <= state.asked ? "; " + word + " is not on this page, and this is the last moment before it" : "; this page has no moment up to " + word;
}
const capture = () => doc.captures[state.capture];
const device = () => capture().alike[state.alike];
const chip = (c, on = device()) => on ? on.chip : c.report.basis; // devices of a log may differ
const owner = (c, id) => c.alike.find((a) => a.ids.includes(id)); // ids are numbers, or BigInts if they are large
const size = (c, on) => chip(c, on).l1_size_bytes;
const usable = (c, on) => size(c, on) ? Math.max(0, Number(size(c, on)) - Number(chip(c, on).cb_base) - Number(chip(c, on).l1_small_bytes)) : 0;
const capital = (s) => s.slice(0, 1).toUpperCase() + s.slice(1);
const nodeWord = (c) => (c.log ? "event" : "node");
const at = (c, row) => nodeWord(c) + " " + row.counter + (row.t === undefined ? "" : " (t\u00a0" + row.t + ")");

// Bytes of a peak or of a group of cores in usable L1, and in L1_SMALL beside it.
const below = (p) => p.below_l1_small_bytes;
const beside = (p) => { const small = Number(p.tracked_bytes) - Number(below(p)); return small ? num(small) + " bytes in L1_SMALL besides" : ""; };

// The figures.
function fullest(c) {
  let best = null;
  c.alike.forEach((a, i) => { const p = a.l1 && a.l1.core_peak; if (p && (!best || below(p) > below(best.peak))) best = { peak: p, on: a, i }; });
  return best;
}
function tile(label, bytes, whole, ...subs) {
  const of = whole ? percent(bytes, whole) : "";
  return h("div", { class: "tile" }, h("dt", {}, label),
    h("dd", {}, h("div", { class: "big" }, num(bytes), h("span", { class: "unit" }, " bytes")),
      whole ? h("div", { class: "meter", "aria-hidden": "true" }, h("i", { css: { width: Math.min(100, (100 * Number(bytes)) / Number(whole)) + "%" } })) : null,
      h("div", { class: "sub" }, rounded(bytes), of && ", " + of + " of usable L1"), subs.filter(Boolean).map((s) => h("div", { class: "sub" }, s))));
}
function tiles(c) {
  const top = fullest(c), f = c.report.fullest, t = c.check.tightest, whole = usable(c, top ? top.on : undefined), bytes = size(c, top ? top.on : undefined);
  const count = c.alike.reduce((n, a) => n + a.ids.length, 0);
  const programs = c.alike.reduce((n, a) => Math.max(n, a.figures ? a.figures.programs : 0), 0);
  const registered = c.alike.reduce((n, a) => Math.max(n, a.figures ? Number(a.figures.registered_core_peak_bytes) : 0), 0);
  return h("dl", { class: "tiles" },
    top && tile("A core held at most", below(top.peak), whole, ["core ", top.peak.core, " of ", top.on.label, ", ", at(c, top.peak)], "CBs and L1 buffers, each byte once; no kernels", beside(top.peak)),
    registered > 0 && tile("CBs registered on the fullest core", registered, whole, f && Number(f.bytes) === registered ? ["most of it: ", name(f.program.op || "not named", 60)] : num(f ? f.bytes : 0) + " at the end", c.log ? "all programs at once, until they are unregistered" : "all programs, as the program cache keeps them"),
    t && tile(Number(c.check.runs_failed) ? "Least room above the CBs of a program that fits" : "Least room above the CBs of a program", t.headroom.free_bytes, whole, ["of ", name(t.program.op || "not named", 60)], "up to the lowest L1 buffer or the end of L1"),
    h("div", { class: "tile" }, h("dt", {}, "Programs"), h("dd", {}, h("div", { class: "big" }, num(programs), h("span", { class: "unit" }, count > 1 ? " on each device at most" : "")),
      h("div", { class: "sub" }, plural(c.check.runs, "run") + " checked, " + (c.check.runs_failed ? num(c.check.runs_failed) + " of them " + (c.check.runs_failed === 1 ? "does" : "do") + " not fit" : c.check.answer === "fits" ? "all fit" : "what is known fits")),
      h("div", { class: "sub" }, plural(count, "device") + ", " + plural(c.report.nodes, nodeWord(c))),
      h("div", { class: "sub" }, spelled(c.report.basis.arch) + (c.report.basis.arch_from === "assumed" ? " (assumed)" : "") + (bytes ? ", L1 " + num(bytes) + " bytes a core" : ", L1 size not known")))));
}

// One core's L1, by address: what lies where.
let hatches = 0;
function addressMap(c, residents, words, on) {
  const base = chip(c, on).cb_base, top = Number(size(c, on) || 0);
  const high = Math.max(top, ...residents.map((r) => Number(r.end)), Number(base) + 1);
  const W = 360, H = 430, X = 92, lane = 122;
  const y = (a) => H - (Number(a) / high) * H;
  const id = "hatch" + hatches++;
  const svg = g("svg", { viewBox: `-4 -10 ${W} ${H + 20}`, width: W, height: H + 20, role: "img", "aria-label": "L1 by address, 0 at the bottom: the table beside says the same" },
    hatch(id),
    g("rect", { x: X, y: y(base), width: 2 * lane + 4, height: Math.max(0, H - y(base)), class: "below" }),
    g("rect", { x: X, y: 0, width: 2 * lane + 4, height: H, class: "axis" }),
    H - y(base) > 15 && g("text", { x: X + lane + 2, y: (H + y(base)) / 2 + 4, "text-anchor": "middle" }, "kernels, reserved"));
  for (const gap of gapsOf(residents, Number(base), Number(high))) {
    if (y(gap[0]) - y(gap[1]) > 18) svg.append(g("text", { x: X + lane + 2, y: (y(gap[0]) + y(gap[1])) / 2 + 4, "text-anchor": "middle" }, "free " + num(gap[1] - gap[0])));
  }
  residents.forEach((r, i) => svg.append(block(r, i, y, X, lane)));
  for (const o of twice(residents)) {
    const e = g("rect", { x: X, y: y(o[1]), width: 2 * lane + 4, height: Math.max(2, y(o[0]) - y(o[1])), class: "twice", fill: `url(#${id})` }, g("title", {}, words + ": " + num(o[0]) + " to " + num(o[1])));
    e.style.setProperty("fill", `url(#${id})`);
    svg.append(e);
  }
  const edges = new Set([Number(base), high, ...residents.map((r) => Number(r.start)), ...residents.map((r) => Number(r.end))]);
  const small = Number(chip(c, on).l1_small_bytes);
  if (small && top) { svg.append(g("line", { x1: X, x2: X + 2 * lane + 4, y1: y(top - small), y2: y(top - small), class: "edge" })); edges.add(top - small); }
  const ticks = [];
  for (const a of [Number(base), high, ...[...edges].sort((p, q) => p - q)]) {
    if (ticks.some((t) => Math.abs(t - y(a)) < 13)) continue;
    ticks.push(y(a));
    svg.append(g("text", { x: X - 8, y: y(a) + 4, "text-anchor": "end" }, num(a)), g("line", { x1: X - 4, x2: X, y1: y(a), y2: y(a), class: "edge" }));
  }
  return svg;
}
const hatch = (id) => g("defs", {}, g("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  g("rect", { width: 6, height: 6, class: "hatchback" }), g("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatchline" })));
function block(r, i, y, X, lane) {
  const kind = hue(r.kind), right = kind === "l1", top = y(r.end), tall = Math.max(1.5, y(r.start) - top), x = right ? X + lane + 4 : X;
  return g("g", {},
    g("rect", { x, y: top, width: lane, height: tall, class: paint(r), "data-row": i }, g("title", {}, labelOf(r) + ", " + num(r.start) + " to " + num(r.end))),
    tall > 15 && g("text", { x: x + lane / 2, y: top + tall / 2 + 4, "text-anchor": "middle", class: right ? "onl1" : "on", "pointer-events": "none" }, r.buffer && r.buffer.op ? short(r.buffer.op, 17) : labelOf(r).slice(0, 17)));
}
const labelOf = (r) => kindOf(r.kind) + (r.cb === null ? "" : " " + r.cb);
// merged returns the union of ranges, and calls held with what two of them have in common.
function merged(residents, held) {
  const out = [];
  for (const [start, end] of residents.map((r) => [Number(r.start), Number(r.end)]).filter((r) => r[0] < r[1]).sort((a, b) => a[0] - b[0])) {
    const last = out[out.length - 1];
    if (!last || start > last[1]) { out.push([start, end]); continue; }
    if (start < last[1] && held) held([start, Math.min(end, last[1])]);
    last[1] = Math.max(last[1], end);
  }
  return out;
}
function gapsOf(residents, low, high) {
  const gaps = [];
  let from = low;
  for (const [start, end] of merged(residents)) { if (start > from) gaps.push([from, start]); from = Math.max(from, end); }
  if (high > from) gaps.push([from, high]);
  return gaps;
}
function twice(residents) {
  const found = [];
  merged(residents, (range) => found.push({ start: range[0], end: range[1] }));
  return merged(found);
}
function ownerOf(c, r) {
  if (r.program) return [name(r.program.op || "not named"), " (" + at(c, r.program) + (r.program.inferred ? ", inferred)" : ")")];
  if (r.buffer) return bufferName(c, r.buffer);
  return "";
}
// bufferName returns the tensor of a buffer, as far as it is known, and whose it is.
function bufferName(c, b) {
  const t = b.tensor, made = [name(b.op || "not named"), " (" + at(c, b) + ")"];
  const what = t ? [t.shape, t.dtype, t.layout, b.layout.toLowerCase().replaceAll("_", "-")].filter(Boolean).join(" ") : "";
  if (!t || !(t.shape || t.dtype || t.layout)) return made;
  const others = t.other_shapes ? " and " + plural(t.other_shapes, "other shape") : "";
  return t.output_of ? [spelled(what + others) + ", output of ", name(t.output_of), ` (node ${t.output_counter})` + (t.called_at ? ", " + spelled(t.called_at) : "")] : [spelled(what + others) + ", made in ", ...made];
}
function holders(c, residents, svg) {
  const rows = residents.map((r, i) => [r, i]).sort((a, b) => (a[0].end < b[0].end ? 1 : a[0].end > b[0].end ? -1 : 0));
  const light = (i, on) => svg.querySelectorAll(`[data-row="${i}"]`).forEach((e) => e.classList.toggle("lit", on));
  return h("div", { class: rows.length < 30 ? "scroll" : "scroll tall", tabindex: "0", role: "region", "aria-label": "what lies there, highest address first" }, h("table", { class: "holders" },
    h("thead", {}, h("tr", {}, h("th", {}, "what"), h("th", { class: "n" }, "bytes"), h("th", { class: "n" }, "start"), h("th", { class: "n" }, "end"), h("th", {}, "whose"))),
    h("tbody", {}, rows.map(([r, i]) => h("tr", { onpointerenter: () => light(i, true), onpointerleave: () => light(i, false) },
      h("td", { class: "k" }, h("span", { class: "swatch " + paint(r) }), labelOf(r)),
      h("td", { class: "n" }, num(r.bytes)), h("td", { class: "n" }, num(r.start)), h("td", { class: "n" }, num(r.end)), h("td", { class: "w" }, ownerOf(c, r)))))));
}
// programsIn returns the names of the programs that lie there, with their colours.
const programsIn = (residents) => [...new Map(residents.filter((r) => r.program).map((r) => [r.program.op, paint(r)]))];
function coreView(c, title, basis, residents, words) {
  const svg = addressMap(c, residents, words), shared = twice(residents).reduce((n, r) => n + r[1] - r[0], 0);
  return [h("h3", {}, title), h("p", { class: "note" }, basis),
    h("div", { class: "keys" }, programsIn(residents).map(([op, cls]) => h("span", {}, h("span", { class: "swatch " + cls }), name(op || "not named", 60))),
      residents.some((r) => hue(r.kind) === "l1") && h("span", {}, h("span", { class: "swatch" }), "L1 buffers, from the top down"),
      shared > 0 && h("span", {}, h("span", { class: "swatch twice" }), words + ": " + num(shared) + " bytes")),
    h("figure", { css: { "margin-top": ".9rem" } }, svg), holders(c, residents, svg)];
}

// What does not fit.
function failures(c) {
  const list = c.check.failures;
  if (!list.length) return null;
  return section("failures", "What does not fit", "Each program is judged beside the L1 buffers that live when it is enqueued: as tt-metal does, and byte by byte.",
    list.map((f, i) => failure(c, f, i === 0)), c.check.failures_more > 0 && h("p", { class: "note" }, plural(c.check.failures_more, "further failure") + " are not on this page."));
}
function failure(c, f, open) {
  const v = f.verdict, clash = v.clashes[0];
  const body = [h("p", { class: "quote name" }, spelled(v.message)), v.advice && h("p", {}, name(v.advice, 2000)), v.difference && h("p", { class: "note" }, name(v.difference, 2000)),
    f.synthesised && h("p", { class: "note" }, "It depends on addresses that are not recorded: synthesised.")];
  if (clash) {
    const all = [...clash.cbs, ...clash.above];
    const svg = addressMap(c, all, "in each other\u2019s way", owner(c, f.device));
    body.push(h("div", { class: "pair" }, h("figure", {}, svg), h("div", {}, h("h3", {}, plural(clash.count, "core") + " " + clash.cores.replace(/[{}]/g, "")),
      h("p", { class: "note" }, num(clash.over_bytes) + " bytes too many: the region ends at " + num(clash.region_end) + ", " + (clash.limit_is === "l1_size" ? "L1 at " : "what lies lowest above starts at ") + num(clash.limit)), holders(c, all, svg))));
  }
  return h("details", { class: "card bad", open }, h("summary", {}, name(f.program.op || "a program that is not named", 90), ", " + at(c, f) + (f.devices > 1 ? ", " + plural(f.devices, "device") : "") + (f.times > 1 ? ", " + num(f.times) + " times" : "")), body);
}

// The cores of a device.
const measures = {
  tracked: ["Everything at one moment", "Tracked bytes of each core at one moment, at first when the fullest core of the device held most: CBs of the program that ran last, and L1 buffers, each byte once."],
  registered: ["CBs registered", "Bytes of CBs of all programs registered at the end, as the program cache keeps them, each byte once."],
  alive: ["CBs alive at most", "Most bytes of CBs alive at one time on each core: a high-water mark, at different moments on different cores."],
};
const grids = new Map();
function gridOf(a, groups = laid(a)) {
  if (grids.has(groups)) return grids.get(groups);
  const cells = new Map(), l = a.l1 || {};
  let cols = l.cols || 0, rows = l.rows || 0;
  const each = (cores, set) => {
    for (const [x0, y0, x1, y1] of rects(cores)) {
      for (let x = x0; x <= x1; x++) for (let y = y0; y <= y1; y++) {
        const key = x + "-" + y;
        if (!cells.has(key)) cells.set(key, { key, tracked: 0, registered: 0, alive: 0, group: null, figures: null });
        set(cells.get(key));
        cols = Math.max(cols, x + 1); rows = Math.max(rows, y + 1);
      }
    }
  };
  for (const p of groups) each(p.cores, (o) => { o.tracked = below(p); o.group = p; });
  for (const p of a.figures ? a.figures.core_groups : []) each(p.cores, (o) => { o.registered = p.registered_bytes; o.alive = p.core_peak_bytes; o.figures = p; });
  const out = { cells, cols, rows };
  grids.set(groups, out);
  return out;
}
// share returns the percent that a core is shaded by: of usable L1 or, where its size is not known, of the most.
const share = (value, whole) => Math.min(100, Math.floor((100 * Number(value)) / Number(whole)));
function shade(e, value, whole) {
  if (!value || !whole) { e.classList.add("none"); return; }
  const p = share(value, whole);
  e.style.setProperty("background", `color-mix(in oklab, var(--hi) ${p}%, var(--lo))`);
  e.style.setProperty("color", p > 50 ? "var(--on-hi)" : "var(--ink)");
}
function mostOf(a) { let most = 0; for (const o of gridOf(a, a.peak_groups).cells.values()) if (o[state.measure] > most) most = o[state.measure]; return most; }
function coreGrid(c, a) {
  const { cells, cols, rows } = gridOf(a), whole = usable(c, a);
  if (cols * rows > 4096) return h("p", { class: "note" }, `A grid of ${num(cols)} x ${num(rows)} cores is too large to draw; the tables list its groups.`);
  if (!cols) return h("p", { class: "note" }, "Nothing is known to lie on a core.");
  const like = cells.get(state.core), step = cols > 16 ? 5 : 1, fullest = a.l1 && a.l1.core_peak ? a.l1.core_peak.core : "";
  const grid = h("div", { class: "grid", role: "group", "aria-label": "cores, x to the right, y down", css: { "grid-template-columns": `1.4rem repeat(${cols}, minmax(0, 1fr))` }, onkeydown: (e) => move(e, grid, cols, rows) }, h("span", {}));
  for (let x = 0; x < cols; x++) grid.append(h("span", { "aria-hidden": "true" }, x % step ? "" : String(x)));
  for (let y = 0; y < rows; y++) {
    grid.append(h("span", { "aria-hidden": "true" }, y % step ? "" : String(y)));
    for (let x = 0; x < cols; x++) {
      const key = x + "-" + y, o = cells.get(key), value = o ? o[state.measure] : 0;
      const b = h("button", { type: "button", "data-core": key, title: `core ${key}: ${num(value)} bytes`, "aria-label": `core ${key}: ${num(value)} bytes`, "aria-pressed": String(key === state.core),
        tabindex: key === state.core || (!state.core && x + y === 0) ? "0" : "-1", onclick: () => { state.core = key; drawCores(key); } });
      if (like && o && o !== like && like.group && o.group === like.group && state.measure === "tracked") b.classList.add("like");
      if (key === fullest && state.measure === "tracked" && state.moment === null) b.classList.add("full");
      shade(b, value, whole || mostOf(a));
      if (value && whole && cols <= 16) b.append(String(share(value, whole) || "<1"));
      grid.append(b);
    }
  }
  return grid;
}
function move(e, grid, cols, rows) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key], from = e.target.dataset && e.target.dataset.core;
  if (!step || !from) return;
  const [x, y] = from.split("-").map(Number);
  const next = grid.querySelector(`[data-core="${Math.min(cols - 1, Math.max(0, x + step[0]))}-${Math.min(rows - 1, Math.max(0, y + step[1]))}"]`);
  e.preventDefault();
  if (next) next.focus();
}
function legend(c, a) {
  const most = mostOf(a), whole = usable(c, a);
  if (!most) return null;
  return h("div", { class: "legend" }, h("span", {}, whole ? "0%" : "0"), h("i", {}), h("span", {}, whole ? `100% of usable L1, ${num(whole)} bytes; at most ${num(most)}, ${percent(most, whole)}` : num(most) + " bytes"));
}
const meshesOf = (c) => c.mesh_layouts.filter((m) => m.rows * m.cols > 1 && m.rows * m.cols <= 4096).slice(0, 8);
function meshes(c) {
  const on = new Map();
  c.alike.forEach((a, i) => a.ids.forEach((id) => { if (id !== null) on.set(Number(id), i); }));
  return meshesOf(c).map((m) => {
    const box = h("div", { class: "mesh", role: "group", "aria-label": `mesh of ${m.rows} rows and ${m.cols} columns of devices`, css: { "grid-template-columns": `repeat(${m.cols}, minmax(0, 2.4rem))` } });
    for (let k = 0; k < m.rows * m.cols; k++) {
      const id = Number(m.first) + k, i = on.get(id), p = i === undefined ? null : c.alike[i].l1 && c.alike[i].l1.core_peak;
      const b = h("button", { type: "button", title: `device ${id}: ${p ? num(below(p)) + " bytes on its fullest core at the peak" : i === undefined && c.alike_more ? "not on this page" : "nothing known"}`, "aria-pressed": String(i === state.alike), disabled: i === undefined, onclick: () => pickDevice(i) }, String(id));
      shade(b, p ? below(p) : 0, i === undefined ? 0 : usable(c, c.alike[i]));
      box.append(b);
    }
    return box;
  });
}
function folds(c) {
  const drawn = (a) => a.ids.some((id) => meshesOf(c).some((m) => id !== null && Number(id) >= Number(m.first) && Number(id) < Number(m.first) + m.rows * m.cols));
  const more = c.alike_more > 0 && h("p", { class: "note" }, plural(c.alike_more, "further device") + " that differ, with lower peaks, are not on this page.");
  if (c.alike.length < 2 || c.alike.every(drawn)) return more; // each device is there once
  return h("div", { class: c.alike.length < 30 ? "folds" : "folds tall", role: "group", "aria-label": "devices; equal ones are one choice" }, c.alike.map((a, i) => !drawn(a) && h("button", { type: "button", "aria-pressed": String(i === state.alike), onclick: () => pickDevice(i) },
    a.label, h("small", {}, a.l1 && a.l1.core_peak ? "peak " + num(below(a.l1.core_peak)) + (usable(c, a) ? ", " + percent(below(a.l1.core_peak), usable(c, a)) + " of usable L1" : "") : "nothing known"))), more);
}
function cores() {
  const c = capture(), a = device();
  if (!a) return h("section", { id: "cores", hidden: true });
  if (!state.core || !gridOf(a).cells.has(state.core)) state.core = state.core || (a.l1 && a.l1.core_peak && a.l1.core_peak.core) || null;
  const most = a.l1 && a.l1.core_peak ? ` A core held at most ${num(below(a.l1.core_peak))} bytes${usable(c, a) ? ", " + percent(below(a.l1.core_peak), usable(c, a)) + " of usable L1" : ""}${beside(a.l1.core_peak) && ", " + beside(a.l1.core_peak)}.` : "";
  const equal = a.ids.length > 1 ? `${capital(a.label)}: ${num(a.ids.length)} devices that are equal but for their nodes.` : capital(a.label) + ".";
  const parts = () => {
    const o = gridOf(a).cells.get(state.core), right = h("div", { class: "card" }), when = momentOf(c, a);
    const registered = o ? " Registered CBs at the end: " + num(o.registered) + " bytes" + (o.figures ? " of " + plural(o.figures.programs, "program") : "") + "." : "";
    if (o && o.group) {
      right.append(...coreView(c, "Core " + state.core, (o.group.count > 1 ? `and ${num(o.group.count - 1)} more that hold the same` : "alone") + `: ${num(o.tracked)} bytes ${when}.` + registered, o.group.residents, "held twice, counts once"));
      if (state.moment === null) right.append(...c.stale_words.map((text) => h("p", { class: "note" }, spelled(text))));
    } else {
      right.append(h("h3", {}, state.core ? "Core " + state.core : "No core"), h("p", { class: "note" }, state.moment === null && a.peak_groups_more ? "What lay there at the peak is too much for this page." : `Nothing lay there ${when}.` + registered));
    }
    return [h("div", {}, coreGrid(c, a), legend(c, a)), right];
  };
  const pair = h("div", { class: "pair" }, parts());
  cores.show = () => { pair.replaceChildren(...parts()); tell(); };
  return section("cores", "Cores", [equal + most + (a.l1 && a.l1.cores_from === "assumed" ? " The grid is assumed." : "") + " ", measures[state.measure][1]], meshes(c), folds(c),
    h("div", { class: "bar" }, choice("shade cores by", Object.entries(measures).map(([k, v]) => [k, v[0]]), state.measure, (k) => { state.measure = k; redraw("cores", cores); })),
    state.measure === "tracked" && moments(c, a), pair);
}
// The slider of moments, and the way back to the peak.
function moments(c, a) {
  if (a.moments.length < 2) return null;
  const peak = a.l1 && a.l1.core_peak;
  const readout = h("p", { class: "readout", "aria-live": "polite" }), back = h("button", { type: "button", class: "plain", onclick: () => { goTo(null); show(); cores.show(); } }, "To the peak");
  const slider = h("input", { type: "range", min: "0", max: String(a.moments.length - 1), "aria-label": "moment that the cores show", oninput: () => { goTo(Number(slider.value)); show(); cores.show(); } });
  function show() {
    slider.value = String(state.moment === null ? Math.max(0, before(a, peak ? peak.counter : 0)) : state.moment);
    const op = state.moment === null ? peak && peak.op : a.moments[state.moment].op;
    readout.replaceChildren(capital(momentOf(c, a)) + (op ? ", " : ""), op ? name(op) : "", ". The page has " + plural(a.moments.length, "moment") + "; the time line below leads here, too.");
    slider.setAttribute("aria-valuetext", readout.textContent);
    back.hidden = state.moment === null;
  }
  show();
  return h("div", { class: "noprint moments" }, slider, h("div", { class: "bar" }, readout, back));
}
// fullestCore returns the first core that holds most at the moment that is looked at.
function fullestCore(a) {
  let best = null;
  for (const p of laid(a)) if (!best || p.tracked_bytes > best.tracked_bytes) best = p;
  if (state.moment === null && a.l1 && a.l1.core_peak) return a.l1.core_peak.core;
  return best && rects(best.cores)[0].slice(0, 2).join("-");
}
const before = (a, counter) => a.moments.findLastIndex((m) => m.counter <= counter);
// The fragment of the URL says what is looked at, so that a view can be mailed. What stands there is only compared.
let later = 0;
function tell() {
  const a = device(), words = new URLSearchParams();
  if (state.capture !== worst) words.set("capture", state.capture);
  if (a && a.ids[0] !== null) words.set("device", a.ids[0]);
  if (state.core) words.set("core", state.core);
  if (a && state.moment !== null) words.set(nodeWord(capture()), a.moments[state.moment].counter);
  if (state.only) words.set("program", capture().programs.indexOf(state.only));
  clearTimeout(later); // browsers do not take hundreds at once
  later = setTimeout(() => history.replaceState(null, "", "#" + words), 300);
}
function look(words) {
  const pick = (key, list, said) => { const i = words.has(key) ? list.findIndex((v, i) => said(v, i).includes(words.get(key))) : -1; return i < 0 ? null : i; };
  state.capture = pick("capture", doc.captures, (_, i) => [String(i)]) ?? worst;
  const c = capture();
  if (!c || !c.alike.length) return;
  const top = fullest(c), on = pick("device", c.alike, (a) => a.ids.map(String));
  state.alike = on === null ? (top ? top.i : 0) : on;
  const a = device(), program = pick("program", c.programs, (_, i) => [String(i)]), { cols, rows } = gridOf(a, a.peak_groups);
  const [, x, y] = /^(\d{1,4})-(\d{1,4})$/.exec(words.get("core")) || [];
  state.core = x < cols && y < rows ? Number(x) + "-" + Number(y) : a.l1 && a.l1.core_peak ? a.l1.core_peak.core : null;
  goTo(null);
  const moment = words.get(nodeWord(c)), peak = a.l1 && a.l1.core_peak;
  if (/^\d{1,20}$/.test(moment)) {
    const asked = BigInt(moment), found = before(a, asked), kept = found < 0 ? null : a.moments[found].counter;
    if (kept == asked) goTo(found);
    else if (peak && peak.counter <= asked && (found < 0 || kept < peak.counter)) goTo(null, peak.counter == asked ? null : asked);
    else goTo(found < 0 ? null : found, asked);
  }
  state.only = program === null ? null : c.programs[program];
  if (state.only) state.table = "cbs";
}
function drawCores(key) { redraw("cores", cores); const b = document.querySelector(`#cores .grid [data-core="${key}"]`); if (b) b.focus({ preventScroll: true }); }
function pickDevice(i) { state.alike = i; state.core = null; goTo(null); redraw("cores", cores); redraw("time", time); }
function redraw(id, draw) { const old = document.getElementById(id); if (old) old.replaceWith(draw()); tell(); }

// The time line.
const lines = {
  core: ["Fullest core", [["tracked_core_bytes", "tracked", "l-main"]], "Tracked bytes on the fullest core of the device, after each event that changed something."],
  sum: ["Sum over cores", [["tracked_bytes", "tracked", "l-main"], ["resident_bytes", "CBs resident", "l-third"], ["registered_bytes", "CBs registered", "l-second"]], "Bytes summed over cores: tracked, CBs that the last dispatches left, and CBs registered."],
  room: ["Least room", [["headroom_bytes", "room", "l-main"]], "Room above what is registered, on the core with the least; none where nothing is registered."],
};
// scale returns where a counter stands on charts over time, and the first and last counter. page.css has the edges for the slider.
const edges = { L: 78, R: 14 };
function scale(list, W) {
  const { L, R } = edges, first = list[0].x, last = Math.max(first + 1, list[list.length - 1].x);
  return { X: (n) => L + ((Math.min(last, Math.max(first, Number(n))) - first) / (last - first)) * (W - L - R), first, last };
}
function time() {
  const c = capture(), a = device();
  if (!a || a.timeline.length < 2) return h("section", { id: "time", hidden: true });
  const what = lines[state.line], box = h("div", { css: { "margin-top": "1rem" } }), readout = h("p", { class: "readout", "aria-live": "polite" });
  const list = a.timeline, { first, last } = scale(list, 0), upTo = (n) => Math.max(0, list.findLastIndex((s) => s.x <= n));
  const slider = h("input", { type: "range", min: String(first), max: String(last), "aria-label": "moment", oninput: () => pick(upTo(Number(slider.value)), false), onkeydown: (e) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[e.key];
    if (by) { e.preventDefault(); pick(Math.min(list.length - 1, Math.max(0, i + by)), false); }
  } });
  let best = 0;
  list.forEach((s, i) => { if (s.tracked_core_bytes > list[best].tracked_core_bytes) best = i; });
  let i = state.moment === null ? best : upTo(Number(a.moments[state.moment].counter));
  const pick = (n, clicked) => { i = n; draw(); follow(clicked); };
  function draw() {
    const s = list[i], peak = i === best && a.l1 && a.l1.core_peak;
    slider.value = String(s.x);
    const W = Math.max(240, box.clientWidth || 900);
    box.replaceChildren(chart(c, a, what, best, i, W, pick));
    if (whole) run(W).point(s);
    readout.replaceChildren(at(c, peak || s) + (s.op ? ", " : ""), s.op ? name(s.op) : "", ": " + what[1].map(([k, word]) => word + " " + num(s[k])).join(", ") + (i !== best ? "" : what === lines.core ? ", the peak" : ", the peak of the fullest core"));
    slider.setAttribute("aria-valuetext", readout.textContent);
  }
  const whole = a.l1 && a.l1.core_peak && a.moments.length > 0 && h("figure", {});
  let drawn = null;
  function run(W) {
    if (drawn && drawn.wide === W) return drawn;
    drawn = picture(c, a, W);
    drawn.svg.addEventListener("click", (e) => pick(nearest(e, drawn.svg, list, W), true));
    whole.replaceChildren(h("h3", {}, "The whole run on core " + a.l1.core_peak.core + ", by address"), h("p", { class: "note" }, "CBs and L1 buffers on the core that holds most at the peak, as of " + plural(a.moments.length, "moment") + ": what came and went between two of them is not drawn."),
      h("div", { class: "keys" }, h("span", {}, h("span", { class: "swatch cb p0" }), h("span", { class: "swatch cb p1" }), "CBs, a colour for each program"), h("span", {}, h("span", { class: "swatch" }), "L1 buffers"), drawn.late && h("span", {}, h("span", { class: "swatch twice" }), "freed late")), drawn.svg);
    return drawn;
  }
  function follow(clicked) { // the cores show the last moment that the page has of them, a click the fullest core
    const found = before(a, list[i].x);
    goTo(i === best || found < 0 ? null : found);
    if (clicked) state.core = fullestCore(a) || state.core;
    redraw("cores", cores);
  }
  const out = section("time", "Time", [capital(a.label) + ". ", what[2]], h("div", { class: "bar" }, choice("figure", Object.entries(lines).map(([k, v]) => [k, v[0]]), state.line, (k) => { state.line = k; redraw("time", time); })),
    box, h("div", { class: "noprint line" }, slider), readout, whole, composition(c, a));
  requestAnimationFrame(draw);
  time.draw = draw;
  draw();
  return out;
}
function chart(c, a, what, best, cursor, W, pick) {
  const H = 230, { L, R } = edges, T = 18, B = 26, list = a.timeline, whole = Number(size(c) || 0);
  const { X, first, last } = scale(list, W);
  let most = 1;
  for (const [k] of what[1]) for (const s of list) if (s[k] !== null) most = Math.max(most, Number(s[k]));
  if (what[1].length === 1 && whole) most = Math.max(most, whole);
  const Y = (v) => T + (1 - Number(v) / most) * (H - T - B);
  const svg = g("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": "time line; the slider below reads it" });
  for (const [v, text] of ticks(most)) svg.append(g("line", { x1: L, x2: W - R, y1: Y(v), y2: Y(v), class: "axis" }), g("text", { x: L - 8, y: Y(v) + 4, "text-anchor": "end" }, text));
  what[1].forEach(([k, , cls], n) => {
    const path = steps(list, k, X, Y);
    if (n === 0 && what[1].length === 1) svg.append(g("path", { d: steps(list, k, X, Y, Y(0)), class: "area" }));
    svg.append(g("path", { d: path, class: cls }));
  });
  for (const f of c.check.failures.slice(0, 64)) if (f.counter >= first && f.counter <= last) svg.append(g("path", { d: `M${X(f.counter)} ${H - B}l-4 8h8z`, class: "fail" }, g("title", {}, "does not fit: " + at(c, f))));
  svg.append(g("line", { x1: X(list[cursor].x), x2: X(list[cursor].x), y1: T, y2: H - B, class: "cursor" }));
  if (what === lines.core) {
    const p = list[best], x = X(p.x), near = x > W / 2;
    svg.append(g("circle", { cx: x, cy: Y(p.tracked_core_bytes), r: 5, class: "peak" }),
      g("text", { x: x + (near ? -10 : 10), y: Math.max(12, Y(p.tracked_core_bytes) - 8), "text-anchor": near ? "end" : "start", class: "strong" }, "peak " + num(p.tracked_core_bytes)));
  }
  svg.append(g("text", { x: L, y: H - 6 }, nodeWord(c) + " " + first), g("text", { x: W - R, y: H - 6, "text-anchor": "end" }, String(last)));
  if (what[1].length > 1) what[1].forEach(([, word, cls], n) => svg.append(g("line", { x1: L + 150 * n, x2: L + 150 * n + 22, y1: 7, y2: 7, class: cls }), g("text", { x: L + 150 * n + 28, y: 11 }, word)));
  svg.addEventListener("click", (e) => pick(nearest(e, svg, list, W), true));
  return svg;
}
// nearest returns the number of the sample that is nearest to a click.
function nearest(e, svg, list, W) {
  const box = svg.getBoundingClientRect(), px = ((e.clientX - box.left) / box.width) * W, { X } = scale(list, W);
  let found = 0;
  list.forEach((s, i) => { if (Math.abs(X(s.x) - px) < Math.abs(X(list[found].x) - px)) found = i; });
  return found;
}
// lives returns what lay on a core over the run: each thing from the first moment that has it to the first one after it
// that has it no more. The peak is a moment, too.
function lives(a, core) {
  const p = a.l1.core_peak, [x, y] = core.split("-").map(Number), boxes = [], open = new Map();
  const has = (g) => rects(g.cores).some(([x0, y0, x1, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1);
  const seen = a.moments.map((m) => ({ counter: m.counter, residents: (m.groups.find(has) || { residents: [] }).residents }));
  const at = seen.findIndex((m) => m.counter >= p.counter);
  const peak = { counter: p.counter, residents: (a.peak_groups.find(has) || { residents: [] }).residents };
  if (core === p.core && (at < 0 || seen[at].counter > p.counter)) seen.splice(at < 0 ? seen.length : at, 0, peak);
  const key = (r) => { const of = r.program || r.buffer || {}; return [r.kind, r.cb, r.start, r.end, of.counter, of.op].join(" "); };
  for (const m of seen) {
    const now = new Map(m.residents.map((r) => [key(r), r]));
    for (const [k, box] of open) if (!now.has(k)) { box.to = m.counter; open.delete(k); }
    for (const [k, r] of now) if (!open.has(k)) { open.set(k, { r, from: m.counter, to: null }); boxes.push(open.get(k)); }
  }
  return boxes;
}
// picture draws the whole run: address by time on the fullest core. Its point moves the line of the moment.
function picture(c, a, W) {
  const H = 320, { L, R } = edges, T = 8, B = 22, core = a.l1.core_peak.core, boxes = lives(a, core), list = a.timeline, top = Number(size(c) || 0), base = chip(c).cb_base;
  const high = boxes.reduce((most, b) => Math.max(most, Number(b.r.end)), Math.max(top, Number(base) + 1)), { X, first, last } = scale(list, W);
  const Y = (v) => T + (1 - Number(v) / high) * (H - T - B);
  const end = W - R, upTo = (b) => (b.to === null ? end : X(b.to)), id = "hatch" + hatches++;
  const svg = g("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": "core " + core + " over the run, address 0 at the bottom; a moment's address map is a table, too" }, hatch(id),
    g("rect", { x: L, y: Y(base), width: end - L, height: Math.max(0, Y(0) - Y(base)), class: "below" }));
  for (const [v, text] of ticks(high)) svg.append(g("line", { x1: L, x2: end, y1: Y(v), y2: Y(v), class: "axis" }), g("text", { x: L - 8, y: Y(v) + 4, "text-anchor": "end" }, text));
  for (const b of boxes) {
    const x = X(b.from), y = Y(b.r.end), wide = Math.max(1, upTo(b) - x), tall = Math.max(1, Y(b.r.start) - y), of = b.r.buffer || b.r.program, right = hue(b.r.kind) === "l1";
    const text = right && of && of.op ? of.op.split(" > ")[0] : labelOf(b.r), until = b.to === null ? "" : `, gone at ${nodeWord(c)} ${b.to}`;
    svg.append(g("rect", { x, y, width: wide, height: tall, class: "box " + paint(b.r) }, g("title", {}, `${labelOf(b.r)}${of ? " of " + spelled(of.op.slice(0, 200)) : ""}: ${num(b.r.start)} to ${num(b.r.end)}, seen from ${nodeWord(c)} ${b.from}${until}`)));
    if (wide > 60 && tall > 14) svg.append(g("text", { x: x + wide / 2, y: y + tall / 2 + 4, "text-anchor": "middle", class: right ? "onl1" : "on", "pointer-events": "none" }, short(text, Math.floor(wide / 8))));
  }
  const s = a.l1.core_peak.spike, late = s && boxes.filter((b) => b.r.buffer && b.r.buffer.counter === s.old.counter && b.r.buffer.op === s.old.op);
  for (const b of late || []) {
    const e = g("rect", { x: X(s.new.counter), y: Y(b.r.end), width: Math.max(3, X(s.freed_counter) - X(s.new.counter)), height: Y(b.r.start) - Y(b.r.end), class: "twice" }, g("title", {}, `freed late, at ${nodeWord(c)} ${s.freed_counter}: ${nodeWord(c)} ${s.new.counter} had replaced it`));
    e.style.setProperty("fill", `url(#${id})`);
    svg.append(e);
  }
  const cursor = g("line", { y1: T, y2: H - B, class: "cursor" });
  svg.append(cursor, g("text", { x: L, y: H - 4 }, nodeWord(c) + " " + first), g("text", { x: end, y: H - 4, "text-anchor": "end" }, String(last)));
  return { svg, wide: W, late: Boolean(late && late.length), point: (s) => { cursor.setAttribute("x1", X(s.x)); cursor.setAttribute("x2", X(s.x)); } };
}
function steps(list, k, X, Y, floor) {
  let d = "", open = false, lastY = 0, lastX = 0;
  const close = () => { if (open && floor !== undefined) d += `V${floor}Z`; open = false; };
  for (const s of list) {
    const x = X(s.x).toFixed(1);
    if (s[k] === null) { if (open) d += `H${x}`; close(); continue; }
    const y = Y(s[k]).toFixed(1);
    if (!open) d += floor === undefined ? `M${x} ${y}` : `M${x} ${floor}V${y}`;
    else if (y !== lastY) d += `H${x}V${y}`;
    open = true; lastX = x; lastY = y;
  }
  if (open) d += `H${lastX}`;
  close();
  return d;
}
function composition(c, a) {
  const p = a.l1 && a.l1.core_peak;
  if (!p) return null;
  const whole = Number(size(c) || p.with_kernels_bytes), shared = p.shared.reduce((n, s) => n + Number(s.bytes), 0);
  const part = (cls, bytes, title) => h("i", { class: cls, title, css: { width: (100 * Number(bytes)) / whole + "%" } });
  const all = Object.entries(p.kinds);
  return h("div", { class: "card" }, h("h3", {}, "At the peak: core " + p.core + ", " + at(c, p)),
    h("p", { class: "note" }, num(p.tracked_bytes) + " bytes tracked", p.op && [", at ", name(p.op)], p.count > 1 && `; ${num(p.count - 1)} more cores were as full`, "."),
    h("div", { class: "stack", role: "img", "aria-label": "shares of L1" }, all.map(([k, b]) => part(hue(k), Number(b) - (hue(k) === "cb" ? shared : 0), kindOf(k) + " " + num(b))), shared > 0 && part("twice", shared, "held twice " + num(shared))),
    h("div", { class: "keys" }, all.map(([k, b]) => h("span", {}, h("span", { class: "swatch " + hue(k) }), kindOf(k) + "s " + num(b))),
      p.shared.map((s) => h("span", {}, h("span", { class: "swatch twice" }), s.kinds.map(kindOf).join(" and ") + " at once, counts once: " + num(s.bytes))),
      h("span", {}, h("span", { class: "swatch none" }), "largest gap " + (p.largest_gap ? num(Number(p.largest_gap[1]) - Number(p.largest_gap[0])) : size(c) ? "0" : "not known"))),
    p.spike && h("p", { class: "note", css: { "margin-top": ".6rem" } }, "A spike: a buffer was allocated before the one that it replaces was freed. With the free first the core would have held " + num(p.spike.without_bytes) + " bytes."));
}

// Tables that sort and filter.
const cell = (k, r) => h("td", { class: k.num ? "n" : k.wide ? "w" : "" }, k.show ? k.show(r) : k.num ? num(k.get(r)) : k.get(r) === null ? "\u2013" : name(String(k.get(r))));
function table(columns, rows, first, left) {
  let by = first, down = true, words = "", shown = 50;
  const text = new Map(), body = h("tbody", {}), count = h("span", { class: "note", "aria-live": "polite" }), row = h("tr"), more = h("button", { type: "button", class: "plain noprint", onclick: () => { shown += 500; fill(); } });
  const searched = (r) => { let t = text.get(r); if (t === undefined) { t = columns.map((k) => { const v = k.get(r); return v === null || v === undefined ? "" : String(v) + " " + num(v); }).join(" ").toLowerCase(); text.set(r, t); } return t; };
  const heads = columns.map((k, i) => h("th", { class: k.num ? "n" : "" }, h("button", { type: "button", onclick: () => { down = by === i ? !down : Boolean(k.num); by = i; shown = 50; fill(); } }, k.title)));
  const narrow = window.innerWidth < 640; // a narrow screen shows the sorted column next to the first one
  function fill() {
    const cells = columns.map((_, i) => i), next = narrow && by ? [0, by, ...cells.filter((i) => i && i !== by)] : cells;
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean), get = by === null ? () => 0 : columns[by].get;
    let list = wanted.length ? rows.filter((r) => wanted.every((w) => searched(r).includes(w))) : rows.slice();
    const order = (p, q) => { const a = get(p), b = get(q); return a === b ? 0 : a === null || a === undefined ? 1 : b === null || b === undefined ? -1 : (a < b ? -1 : 1) * (down ? -1 : 1); };
    list = list.map((r, i) => [r, i]).sort((p, q) => order(p[0], q[0]) || p[1] - q[1]).map((p) => p[0]);
    heads.forEach((e, i) => (i === by ? e.setAttribute("aria-sort", down ? "descending" : "ascending") : e.removeAttribute("aria-sort")));
    body.replaceChildren(...list.slice(0, shown).map((r) => h("tr", {}, next.map((i) => cell(columns[i], r)))));
    row.replaceChildren(...next.map((i) => heads[i]));
    count.textContent = (list.length < rows.length ? num(list.length) + " of " : "") + plural(rows.length, "row") + (list.length > shown ? ", " + num(shown) + " shown" : "") + (left ? "; " + num(left) + " more are not on this page" : "");
    more.hidden = list.length <= shown;
    more.textContent = "Show " + num(Math.min(500, list.length - shown)) + " more";
  }
  const input = h("input", { type: "search", placeholder: "Filter", "aria-label": "filter rows", oninput: () => { words = input.value; shown = 50; fill(); } });
  fill();
  return h("div", {}, h("div", { class: "bar noprint" }, input, count), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, h("table", {}, h("thead", {}, row), body)), h("div", { class: "bar" }, more));
}
const column = (title, key, isNum, extra) => ({ title, get: (r) => r[key], num: isNum, ...extra });
function programsTable(c) {
  const many = c.alike.length > 1;
  return table([
    column("operation", "op", false, { wide: true, get: (r) => r.op || "", show: (r) => h("button", { type: "button", onclick: () => { state.only = r; state.table = "cbs"; redraw("tables", tables); } }, h("span", { class: "swatch " + colour(r.op || "") }), name(r.op || "not named"), r.cbs_overlap ? " (CBs share bytes)" : "") }),
    column("times", "times", true), column(nodeWord(c), "first_counter", true, { show: (r) => String(r.first_counter) }), { title: "CBs", num: true, get: (r) => r.local_cbs, show: (r) => r.local_cbs + (r.global_cbs ? "+" + r.global_cbs : "") }, column("cores", "cores", true),
    column("bytes a core", "core_max_bytes", true), column("sum over cores", "resident_bytes", true), column("logical", "logical_bytes", true), column("end", "highest_end", true),
    ...(many ? [{ title: "devices", get: (r) => r.alike.length, show: (r) => (r.alike.length === c.alike.length ? "all" : r.alike.slice(0, 2).map((i) => c.alike[i].label).join(", ") + (r.alike.length > 2 ? ", \u2026" : "")) }] : []),
  ], c.programs, 5, c.programs_more);
}
function cbsTable(c) {
  const rows = [];
  for (const p of state.only ? [state.only] : c.programs) if (p.placed !== null) for (const b of c.placed[p.placed]) rows.push({ b, p });
  const sub = (title, key, isNum) => ({ title, num: isNum, get: (r) => r.b[key] });
  const at = (title, i) => ({ title, num: true, get: (r) => r.b.range && r.b.range[i] });
  return [state.only && h("p", { class: "note", css: { "margin-top": ".8rem" } }, "Only ", name(state.only.op || "not named"), ", " + nodeWord(c) + " " + state.only.first_counter + ". ", h("button", { type: "button", class: "plain", onclick: () => { state.only = null; redraw("tables", tables); } }, "Show all")),
    table([{ title: "buffer", get: (r) => kindOf(r.b.kind) + " " + String(r.b.cb).padStart(3), show: (r) => kindOf(r.b.kind) + " " + r.b.cb + (r.b.global ? " (global)" : "") },
      sub("bytes a core", "size_bytes", true), at("start", 0), at("end", 1), { title: "cores", num: true, get: (r) => coresIn(r.b.cores) }, { title: "which", get: (r) => r.b.cores.replace(/[{}]/g, "") }, { title: "operation", wide: true, get: (r) => r.p.op }], rows, 1, 0)];
}
function buffersTable(c) {
  const rows = [], seen = new Set();
  const take = (b, when) => { const key = [b.op, b.counter, b.device, b.kind, b.size_bytes, b.core_max_bytes, b.address, b.layout].join(); if (!seen.has(key)) { seen.add(key); rows.push({ ...b, when }); } };
  for (const b of c.report.live_at_end.list) take(b, "at the end");
  for (const a of c.alike) for (const p of a.peak_groups) for (const r of p.residents) if (r.buffer) take(r.buffer, "at a peak");
  const larger = (p, q) => (p.size_bytes > q.size_bytes ? -1 : p.size_bytes < q.size_bytes ? 1 : 0);
  rows.sort((p, q) => (p.kind === "dram") - (q.kind === "dram") || larger(p, q)); // L1 first
  return table([column("allocated by", "op", false, { wide: true }), column("lives", "when"), column(nodeWord(c), "counter", true, { show: (r) => String(r.counter) }), column("device", "device", true, { show: (r) => (r.device === null ? "\u2013" : String(r.device)) }), { title: "kind", get: (r) => kindOf(r.kind) }, column("size", "size_bytes", true),
    column("bytes a core", "core_max_bytes", true), column("address", "address", true), column("layout", "layout")], rows, null, c.report.live_at_end.more);
}
function tables() {
  const c = capture(), all = { programs: "Programs", cbs: "CBs", buffers: "Buffers" };
  if (state.table !== "cbs") state.only = null;
  return section("tables", "Programs, CBs and buffers", { programs: "Programs that differ in their nodes alone are one row. Bytes a core are those of its fullest core.", cbs: "What each program places, where it is known. A global CB lies in a tensor and takes no bytes of its own.", buffers: "Buffers that live at the end, and those that lay on a core at the peak of its device." }[state.table],
    h("div", { class: "bar" }, choice("table", Object.entries(all), state.table, (k) => { state.table = k; state.only = null; redraw("tables", tables); })),
    state.table === "programs" ? programsTable(c) : state.table === "cbs" ? cbsTable(c) : buffersTable(c));
}

// What is counted.
function counted(c) {
  const b = c.report.basis, from = { option: "as given", file: "as the file says", arch: "default of the architecture", assumed: "assumed" };
  const item = (text) => h("li", {}, text);
  const addresses = { none: "no CB has an address", recorded: "CB addresses are recorded", synthesised: "CBs have no addresses and were placed by tt-metal\u2019s rule: synthesised", mixed: "some CBs have no address and were placed: synthesised" };
  return section("counted", "What is counted, and what is not", null, h("div", { class: "two" },
    h("div", {}, h("h3", {}, "In the figures of CBs"), h("ul", {}, b.includes.map(item), item(b.physical))),
    h("div", {}, h("h3", {}, "Not in them"), h("ul", {}, b.excludes.map(item))),
    h("div", {}, h("h3", {}, "What they rest on"), h("ul", {}, item(spelled(b.arch) + ", " + (from[b.arch_from] || "")), item("CBs from " + num(b.cb_base) + ", aligned to " + num(b.cb_align) + ", " + (from[b.base_from] || "")), item(size(c, null) ? "L1 to " + num(size(c, null)) + (b.l1_small_bytes ? ", L1_SMALL " + num(b.l1_small_bytes) : ", no L1_SMALL") + ", " + (from[b.l1_small_from] || "") : "L1 size not known"), item(addresses[c.report.addresses] || ""),
      c.report.cache_hits.inferred > 0 && item(plural(c.report.cache_hits.inferred, "operation") + " hit the program cache: taken to run what the last run of the same operation ran"))),
    h("div", {}, h("h3", {}, "What is hidden or odd"), c.check.untold.length + c.check.accepted.length + c.report.anomalies.length === 0 ? h("p", { class: "note" }, "Nothing.") : h("ul", {},
      c.check.untold.map((u) => h("li", {}, h("code", {}, spelled(u.code)), " ", name(u.text, 400), ". So it cannot be told whether all fits.")), c.check.accepted.map((u) => h("li", {}, h("code", {}, spelled(u.code)), " ", name(u.text, 400), ". Taken as seen.")),
      c.report.anomalies.filter((o) => !c.check.untold.some((u) => u.code === o.code) && !c.check.accepted.some((u) => u.code === o.code)).map((o) => h("li", {}, h("code", {}, spelled(o.code)), " " + num(o.count) + " times" + (o.first_counter === null ? "" : ", first at " + nodeWord(c) + " " + o.first_counter), o.detail && [": ", name(o.detail, 200)]))))));
}

// What changed.
const grew = (n, more = 1) => h("span", { class: n * more > 0 ? "up" : n * more < 0 ? "down" : "" }, signed(n)); // more: 1 if more is worse, -1 if less is, 0 if neither
const change = (r) => (r.new ? Number(r.new.core_max_bytes) : 0) - (r.old ? Number(r.old.core_max_bytes) : 0);
function diff(d) {
  const side = (s) => [s.answer.replaceAll("_", " "), num(s.runs_failed), s.peak ? num(s.peak.tracked_bytes) : "\u2013", s.tightest ? num(s.tightest.free_bytes) : "\u2013"];
  const old = side(d.sides.old), now = side(d.sides.new), fails = Number(d.sides.old.runs_failed) + Number(d.sides.new.runs_failed) > 0;
  const labels = ["verdict", "runs that do not fit", "bytes of the fullest core", fails ? "least room above CBs that fit" : "least room above CBs"];
  const delta = (p, q, more) => (p === null || p === undefined || q === null || q === undefined ? "" : grew(Number(q) - Number(p), more));
  const by = ["", delta(d.sides.old.runs_failed, d.sides.new.runs_failed), delta(d.sides.old.peak && d.sides.old.peak.tracked_bytes, d.sides.new.peak && d.sides.new.peak.tracked_bytes), delta(d.sides.old.tightest && d.sides.old.tightest.free_bytes, d.sides.new.tightest && d.sides.new.tightest.free_bytes, fails ? 0 : -1)];
  return section("changed", "What changed", [h("bdi", {}, spelled(d.words))], h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, ""), h("th", { class: "n" }, "old"), h("th", { class: "n" }, "new"), h("th", { class: "n" }, "change"))),
    h("tbody", {}, labels.map((l, i) => h("tr", {}, h("td", {}, l), h("td", { class: "n" }, old[i]), h("td", { class: "n" }, now[i]), h("td", { class: "n" }, by[i])))))),
    d.devices.map((one, i) => changedDevice(one, d.labels[i], d.programs_more[i], d.devices.length < 3, d.figure_words)));
}
const coresIn = (cores) => rects(cores).reduce((n, [x0, y0, x1, y1]) => n + (x1 - x0 + 1) * (y1 - y0 + 1), 0);
const rects = (cores) => [...cores.matchAll(/\[(\d+)-(\d+) - (\d+)-(\d+)\]/g)].map((m) => m.slice(1).map(Number));
function changedCores(one) {
  const grid = one.grid.new || one.grid.old;
  return h("div", { class: "two" }, [["tracked_bytes", one.peak_groups, "Everything at the peak, each side at its own"], ["registered_bytes", one.core_groups, "CBs registered"]].map(([key, groups, title]) => {
    const cells = new Map();
    let cols = grid ? grid.cols : 0, rows = grid ? grid.rows : 0, most = 0;
    for (const p of groups || []) for (const [x0, y0, x1, y1] of rects(p.cores)) for (let x = x0; x <= x1; x++) for (let y = y0; y <= y1; y++) {
      const by = Number(p[key].new) - Number(p[key].old);
      if (!by) continue;
      cells.set(x + "-" + y, [p[key], by]);
      cols = Math.max(cols, x + 1); rows = Math.max(rows, y + 1); most = Math.max(most, Math.abs(by));
    }
    if (!most || cols * rows > 4096) return null;
    const box = h("div", { class: "grid delta", role: "img", "aria-label": "cores, x to the right, y down: " + num(cells.size) + " hold more or less; the tables say by how much", css: { "grid-template-columns": `1.4rem repeat(${cols}, minmax(0, 1fr))` } }, h("span", {}));
    const step = cols > 16 ? 5 : 1;
    for (let x = 0; x < cols; x++) box.append(h("span", {}, x % step ? "" : String(x)));
    for (let y = 0; y < rows; y++) {
      box.append(h("span", {}, y % step ? "" : String(y)));
      for (let x = 0; x < cols; x++) {
        const [pair, by] = cells.get(x + "-" + y) || [null, 0], state = !by ? "same" : Number(pair.old) === 0 ? "new" : Number(pair.new) === 0 ? "gone" : by > 0 ? "grown" : "shrunk";
        const e = h("i", { class: state, title: `core ${x}-${y}: ` + (by ? `${num(pair.old)} to ${num(pair.new)} bytes, ${state}` : "the same") }, { new: "+", gone: "\u00d7", grown: "\u2191", shrunk: "\u2193", same: "" }[state]);
        if (by) {
          const p = 15 + Math.round((85 * Math.abs(by)) / most);
          e.style.setProperty("background", `color-mix(in oklab, var(${by > 0 ? "--bad" : "--accent"}) ${p}%, var(--card))`);
          e.style.setProperty("color", p > 55 ? "var(--on-hi)" : "var(--ink)");
        }
        box.append(e);
      }
    }
    const states = new Map();
    box.querySelectorAll("i:not(.same)").forEach((e) => states.set(e.className, (states.get(e.className) || 0) + 1));
    return h("figure", {}, h("h3", {}, title), h("p", { class: "note" }, "On " + [...states].map(([k, n]) => plural(n, "core") + " " + k).join(", ") + "; by " + num(most) + " bytes at most."), box,
      h("div", { class: "keys" }, [["up", "\u2191 grown, + new"], ["down", "\u2193 shrunk, \u00d7 gone"]].map(([k, text]) => h("span", { class: k }, text)), h("span", {}, "the stronger the more")));
  }));
}
function changedDevice(one, label, left, open, words) {
  const figures = one.figures.filter((f) => f.old !== f.new);
  const equal = [figures, one.programs, one.at_peak, one.core_groups, one.peak_groups || []].every((list) => list.length === 0);
  if (equal) return h("p", { class: "note", css: { "margin-top": ".8rem" } }, label + ": nothing that is compared differs.");
  const counts = Object.entries(one.program_states).filter(([, n]) => n).map(([k, n]) => num(n) + " " + k).join(", ");
  return h("details", { class: "card", open }, h("summary", {}, h("strong", {}, label), counts && ": programs " + counts),
    figures.length > 0 && h("div", { class: "scroll" }, h("table", { class: "figures" }, h("tbody", {}, figures.map((f) => h("tr", {}, h("td", {}, words[f.name] || spelled(f.name)), h("td", { class: "n" }, num(f.old)), h("td", { class: "n" }, num(f.new)), h("td", { class: "n" }, grew(Number(f.new) - Number(f.old), f.name === "programs" ? 0 : 1))))))),
    changedCores(one),
    one.at_peak.length > 0 && h("div", {}, h("h3", { css: { "margin-top": "1rem" } }, "On the fullest core at its peak"), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "state"), h("th", {}, "what"), h("th", { class: "n" }, "old"), h("th", { class: "n" }, "new"), h("th", {}, "whose"))), h("tbody", {}, one.at_peak.slice(0, 40).map((p) => h("tr", {}, h("td", {}, p.state), h("td", { class: "k" }, h("span", { class: "swatch " + hue(p.kind) }), kindOf(p.kind) + (p.cb === null ? "" : " " + p.cb) + (p.times > 1 ? " x " + num(p.times) : "")), h("td", { class: "n" }, p.old ? num(p.old.bytes) : "\u2013"), h("td", { class: "n" }, p.new ? num(p.new.bytes) : "\u2013"), h("td", { class: "w" }, name(p.op)))))))),
    one.programs.length > 0 && h("div", {}, h("h3", { css: { "margin-top": "1rem" } }, "Programs that differ, by bytes of their fullest core"), table([
      { title: "change", num: true, get: change, show: (r) => grew(change(r)) }, column("state", "state"), { title: "old", num: true, get: (r) => (r.old ? r.old.core_max_bytes : null) }, { title: "new", num: true, get: (r) => (r.new ? r.new.core_max_bytes : null) }, column("times", "times", true), column("operation", "op", false, { wide: true })], one.programs, null, left)));
}

// The page.
function captures() {
  if (doc.captures.length < 2) return null;
  const answers = { fits: "fits", does_not_fit: "does not fit", cannot_tell: "cannot tell" };
  const pick = h("select", { "aria-label": "capture", onchange: () => { look(new URLSearchParams({ capture: pick.value })); draw(); tell(); } }, doc.captures.map((c, i) => h("option", { value: String(i), selected: i === state.capture }, (answers[c.check.answer] || "") + ": " + spelled(c.report.file.slice(-90)))));
  return h("div", { class: "bar noprint", css: { "margin-top": "1.5rem" } }, h("label", {}, "Capture ", pick));
}
// jump is a link to a section that leaves the fragment as it is.
const jump = (to, text) => to && h("a", { href: "#" + to.id, onclick: (e) => { e.preventDefault(); to.scrollIntoView(); } }, text);
function draw() {
  const c = capture(), view = document.getElementById("view");
  if (!c) return;
  const parts = [tiles(c), doc.diff && diff(doc.diff), failures(c), cores(), time(), tables(), counted(c)];
  const nav = h("nav", { "aria-label": "sections" }, parts.filter((p) => p && p.id && !p.hidden).map((p) => jump(p, p.querySelector("h2").textContent)), jump(document.getElementById("words"), "Words"));
  headlines.forEach((e, i) => { e.hidden = i !== state.capture; });
  view.replaceChildren(...[captures(), nav, ...parts].filter(Boolean));
  if (time.draw) time.draw();
}
document.querySelectorAll("#words details").forEach((e) => e.removeAttribute("open"));
let wide = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== wide && time.draw) { wide = window.innerWidth; time.draw(); } });
window.addEventListener("beforeprint", () => document.querySelectorAll("#view details").forEach((e) => e.setAttribute("open", "")));
const open = () => { look(new URLSearchParams(location.hash.slice(1))); draw(); };
window.addEventListener("hashchange", open);
open();
})();
