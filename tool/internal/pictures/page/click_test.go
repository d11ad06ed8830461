package page_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/replay/diff"
)

func dark() object { return object{"name": "prefers-color-scheme", "value": "dark"} }

// The page opens without a word on the console and without a request, on a laptop and a phone, in
// the light and in the dark; nothing sticks out of it; and it can be printed.
func TestPages(t *testing.T) {
	b := newBrowser(t)
	old, now := read(t, "../../../../examples/cached_ops.json"), read(t, "../../../../examples/events.jsonl")
	_, lines := hostile()
	d := diff.Compare([]*diff.Run{diff.Of(old)}, []*diff.Run{diff.Of(now)}, diff.Terms{})
	far := *now
	far.File = strings.Repeat("a-long-name-of-a-folder/", 5) + "model.json"
	for name, text := range map[string]string{
		"several": written(t, nil, old, &far, now),
		"log":     written(t, nil, now), "capture": written(t, nil, old), "diff": written(t, d, now, old), "hostile": written(t, nil, log(t, lines...)),
		"nothing": written(t, nil, log(t)), "none": written(t, nil),
	} {
		path := saved(t, text)
		for shot, open := range map[string]func(){
			"light": func() { b.open(path, 1280, 900) },
			"dark":  func() { b.open(path, 1280, 900, dark()) },
			"phone": func() { b.open(path, 390, 844) },
			"print": func() {
				b.open(path, 794, 1123)
				b.call("Emulation.setEmulatedMedia", object{"media": "print"}, nil)
			},
		} {
			open()
			b.quiet(name + " " + shot)
			require.LessOrEqual(t, b.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), 0.0, "%s %s is wider than the screen", name, shot)
			picture(t, b, name+"-"+shot)
		}
	}
}

// A program that does not fit is drawn by the L1 of its own device, whichever is selected.
func TestFailureOnAnotherChip(t *testing.T) {
	b := newBrowser(t)
	b.open(saved(t, written(t, nil, log(t,
		`{"event":"device","device":0,"spec":{"board":"p150b"}}`, `{"event":"device","device":1,"spec":{"board":"n150"}}`,
		`{"event":"allocate","buffer":1,"kind":"l1","devices":[0],"parts":[{"address":200000,"size":1300000}]}`,
		`{"event":"allocate","buffer":2,"kind":"l1","devices":[1],"parts":[{"address":200000,"size":1200000}]}`,
		`{"event":"program","program":1,"cbs":[{"cores":"0-0","size":262144}]}`, `{"event":"enqueue","program":1,"devices":[1]}`))), 1280, 900)
	require.Equal(t, "device 0", b.eval(`document.querySelector("#cores .folds [aria-pressed=true]").firstChild.textContent`))
	shown, _ := b.eval(`document.querySelector("#failures svg").textContent`).(string)
	require.Contains(t, shown, "1,499,136")
	require.NotContains(t, shown, "1,572,864")
	b.quiet("failure")
}

// What can be clicked shows something else, and what can be reached by keys answers to them.
func TestClicks(t *testing.T) {
	b := newBrowser(t)
	now, old := read(t, "../../../../examples/events.jsonl"), read(t, "testdata/old.jsonl")
	d := diff.Compare([]*diff.Run{diff.Of(old)}, []*diff.Run{diff.Of(now)}, diff.Terms{})
	b.open(saved(t, written(t, d, now, read(t, "../../../../examples/cached_ops.json"))), 1280, 900)
	text := func(selector string) string {
		got, _ := b.eval(`document.querySelector("` + selector + `").textContent`).(string)
		return got
	}
	press := func(within, label string) {
		b.eval(`[...document.querySelectorAll("` + within + ` button")].find((e) => e.textContent.startsWith("` + label + `")).click()`)
	}
	require.Equal(t, "Does not fit", text("h1"))
	require.Contains(t, text("#changed"), "a \"large\" tensor")
	require.Contains(t, text("#failures"), "62,464 bytes too many")

	// The picture of what differs: the cores of the program hold more, those that had nothing are new.
	require.EqualValues(t, 64, b.eval(`document.querySelectorAll("#changed figure:first-child .grown").length`))
	require.EqualValues(t, 46, b.eval(`document.querySelectorAll("#changed figure:first-child .new").length`))
	require.Equal(t, "core 0-0: 631,296 to 1,461,248 bytes, grown", b.eval(`document.querySelector("#changed .delta .grown").title`))
	require.EqualValues(t, 64, b.eval(`document.querySelectorAll("#changed figure + figure .grown").length`))

	// A core's address map.
	require.Contains(t, text("#cores .card"), "and 63 more that hold the same: 1,461,248 bytes at event 7 (t\u00a01600)")
	require.EqualValues(t, 3, b.eval(`document.querySelectorAll("#cores svg [data-row]").length`))
	require.EqualValues(t, 1, b.eval(`document.querySelectorAll("#cores svg .twice").length`))
	b.eval(`document.querySelector("#cores [data-core='9-9']").click()`)
	require.Contains(t, text("#cores .card"), "Core 9-9")
	require.Contains(t, text("#cores .card"), "868,352 bytes")
	require.Equal(t, "9-9", b.eval(`document.activeElement.dataset.core`))
	b.press("ArrowRight")
	b.press("ArrowRight")
	b.press("Enter")
	require.Contains(t, text("#cores .card"), "Core 10-9")
	press("#cores", "CBs registered")
	require.Equal(t, "core 0-0: 655,360 bytes", b.eval(`document.querySelector("#cores [data-core='0-0']").title`))
	require.Equal(t, "core 9-9: 0 bytes", b.eval(`document.querySelector("#cores [data-core='9-9']").title`))

	// Time.
	require.Contains(t, text("#time .readout"), "event 7 (t\u00a01600), a \"large\" tensor: tracked 1,461,248, the peak")
	b.eval(`const s = document.querySelector("#time input"); s.focus(); s.value = "0"; s.dispatchEvent(new Event("input"))`)
	require.Contains(t, text("#time .readout"), "tracked 0")
	b.press("ArrowRight")
	require.Contains(t, text("#time .readout"), "event 4")

	// The cores follow it; their own slider goes from moment to moment, and a button back.
	press("#cores", "Everything")
	require.Contains(t, text("#cores .card"), "Nothing lay there after event 4 (t\u00a01010).")
	b.eval(`document.querySelector("#cores [data-core='0-0']").click()`)
	require.Contains(t, text("#cores .card"), "655,360 bytes after event 4 (t\u00a01010).")
	require.Equal(t, "core 10-9: 0 bytes", b.eval(`document.querySelector("#cores [data-core='10-9']").title`))
	b.eval(`const m = document.querySelector("#cores .moments input"); m.focus(); m.value = "0"; m.dispatchEvent(new Event("input"))`)
	require.Contains(t, text("#cores .card"), "Nothing lay there after event ")
	b.press("ArrowRight")
	require.Contains(t, text("#cores .moments .readout"), "After event 4 (t\u00a01010), ttnn.matmul > matmul, 1 of 2. The page has 6 moments")
	b.press("ArrowRight")
	require.Contains(t, text("#cores .card"), "1,461,248 bytes after event 7 (t\u00a01600).")
	press("#cores .moments", "To the peak")
	require.Contains(t, text("#cores .card"), "1,461,248 bytes at event 7 (t\u00a01600), the peak of the device.")
	require.EqualValues(t, 1, b.eval(`document.querySelectorAll("#cores .full").length`))
	press("#time", "Sum over cores")
	require.Contains(t, text("#time .readout"), "CBs registered 41,943,040")
	press("#time", "Least room")
	require.Contains(t, text("#time .readout"), "room 0")

	// A click on the time line selects the fullest core, and the URL holds all that is selected.
	press("#time", "Fullest core")
	b.eval(`const line = document.querySelector("#time input"); line.value = "4"; line.dispatchEvent(new Event("input"))`)
	require.Contains(t, text("#time .readout"), "event 4 (t\u00a01010), ttnn.matmul > matmul, 1 of 2: tracked 655,360")
	b.eval(`const svg = document.querySelector("#time svg"), on = svg.getBoundingClientRect(); svg.dispatchEvent(new MouseEvent("click", { clientX: on.right }))`)
	require.Contains(t, text("#cores .card"), "Core 0-0")
	require.Contains(t, text("#cores .card"), "655,360 bytes after event 12 (t\u00a01900).")
	b.eval(`new Promise((done) => setTimeout(done, 400))`)
	require.Equal(t, "#device=0&core=0-0&event=12", b.eval(`location.hash`))
	b.eval(`location.hash = "#device=0&core=9-9&event=7"; new Promise((done) => setTimeout(done, 50))`)
	require.Contains(t, text("#cores .card"), "Core 9-9")
	require.Contains(t, text("#cores .card"), "868,352 bytes after event 7 (t\u00a01600).")
	require.Contains(t, text("#time .readout"), "event 7 (t\u00a01600), a \"large\" tensor: tracked 1,461,248, the peak")

	// Tables.
	press("#tables tbody", "ttnn.matmul")
	require.Contains(t, text("#tables"), "Only ttnn.matmul > matmul, 1 of 2")
	require.EqualValues(t, 2, b.eval(`document.querySelectorAll("#tables tbody tr").length`))
	press("#tables th", "start")
	require.Equal(t, "descending", b.eval(`document.querySelectorAll("#tables th")[2].getAttribute("aria-sort")`))
	require.Contains(t, text("#tables tbody tr"), "242,688")
	press("#tables", "Buffers")
	require.Contains(t, text("#tables tbody"), "a \"large\" tensor")

	// Another capture.
	b.eval(`const p = document.querySelector("select"); p.value = "1"; p.dispatchEvent(new Event("change"))`)
	require.Contains(t, text(".tiles"), "888,832")
	require.Equal(t, "Fits", text(".answer:not([hidden]) h1"))
	require.Equal(t, "cached_ops.json, 2 of 2 captures; the worst answer of all: does not fit", text(".answer:not([hidden]) .eyebrow"))
	b.eval(`location.hash = "#capture=1&node=1453"; new Promise((done) => setTimeout(done, 50))`)
	require.Contains(t, text("#cores .readout"), "and this is the last moment before it")
	press("#tables", "Programs")
	b.eval(`const f = document.querySelector("#tables input"); f.value = "group norm"; f.dispatchEvent(new Event("input"))`)
	require.Contains(t, text("#tables .bar .note"), "of 81 rows")
	press("#tables", "Show")
	b.quiet("after all clicks")
	if dir := shots(); dir != "" {
		b.shot(filepath.Join(dir, "clicked.png"))
	}
}

// Every name of a file is on the page as text, whole or cut, and none has become an element.
func TestHostileNamesInBrowser(t *testing.T) {
	b := newBrowser(t)
	names, lines := hostile()
	b.open(saved(t, written(t, nil, log(t, lines...))), 1280, 900)
	b.quiet("hostile")
	require.EqualValues(t, 0, b.eval(`document.querySelectorAll("img, iframe, object, embed, [onerror], [onload], svg script, a[href^=javascript]").length`))
	require.EqualValues(t, 2, b.eval(`document.scripts.length`))
	for _, selector := range []string{"Programs", "Buffers", "CBs"} {
		b.eval(`[...document.querySelectorAll("#tables .choice button")].find((e) => e.textContent === "` + selector + `").click()`)
		shown, _ := b.eval(`document.querySelector("#tables tbody").textContent`).(string)
		for _, name := range names[:4] {
			require.Contains(t, shown, name, selector)
		}
		require.NotContains(t, shown, "\u202e")
		require.Contains(t, shown, `\u{202e}evil`)
		require.NotContains(t, shown, "\u2028")
	}
	b.quiet("hostile")
}
