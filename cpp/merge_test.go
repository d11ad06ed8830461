// Package cpp_test compares cbl1.hpp with the Go engine.
package cpp_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The codes of cbl1.hpp.
const (
	ok = iota
	noDevice
	deviceTwice
	outsideGrid
	badRange
	idTaken
	notRegistered
	overflow
)

// strict are the flags of hosts that are strict.
var strict = []string{"-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Werror"}

// compilers are the C++ compilers here. Without one the test is skipped.
func compilers(t *testing.T) (out []string) {
	t.Helper()
	for _, name := range []string{"g++", "clang++"} {
		if _, err := exec.LookPath(name); err == nil {
			out = append(out, name)
		}
	}
	if out == nil {
		t.Skip("needs g++ or clang++: it compiles cbl1.hpp as a host does")
	}
	return out
}

// driver compiles testdata/histories.cpp beside a header, and returns the command.
func driver(t *testing.T, compiler string, header []byte, flags ...string) string {
	t.Helper()
	return compile(t, compiler, "testdata/histories.cpp", header, flags...)
}

// compile compiles a source beside a header, and returns the command.
func compile(t *testing.T, compiler, name string, header []byte, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	source, command := filepath.Join(folder, "source.cpp"), filepath.Join(folder, "command")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cbl1.hpp"), header, 0o600))
	require.NoError(t, os.WriteFile(source, text, 0o600))
	cmd := exec.Command(compiler, slices.Concat([]string{"-O1", "-o", command}, flags, []string{source})...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return command
}

func header(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("cbl1.hpp")
	require.NoError(t, err)
	return text
}

// A history is the calls of a fleet as the driver reads them, and what the Go engine answers.
type history struct {
	t            *testing.T
	rnd          *rand.Rand
	calls, wants bytes.Buffer
	spec         l1.Spec
	devices      int
	fleet        *device.Fleet
	made         []*program.Program // by slot; nil for one that is refused
}

func (h *history) call(format string, args ...any) { fmt.Fprintf(&h.calls, format+"\n", args...) }
func (h *history) want(format string, args ...any) { fmt.Fprintf(&h.wants, format+"\n", args...) }

// histories returns n histories of 200 calls, illegal ones too.
func histories(t *testing.T, n int) *history {
	h := &history{t: t}
	for seed := range n {
		h.rnd = rand.New(rand.NewPCG(uint64(seed), 8))
		h.begin()
		for range 200 {
			h.step()
		}
	}
	return h
}

func (h *history) begin() {
	h.devices = 1 + h.rnd.IntN(6)
	h.spec = l1.Spec{L1Size: 1 << 20, L1Align: 16, Cols: 1 + h.rnd.IntN(9), Rows: 1 + h.rnd.IntN(6)}
	h.fleet = device.NewFleet()
	_, err := h.fleet.AddMesh(0, 1, h.devices, h.spec)
	require.NoError(h.t, err)
	h.call("fleet %d %d %d", h.devices, h.spec.Cols, h.spec.Rows)
	h.made = make([]*program.Program, 12)
	for slot := range h.made {
		h.program(slot)
	}
}

// program makes a program of a slot. Two slots share an id, and sometimes the ranges too.
func (h *history) program(slot int) {
	id := program.ID(slot % 10)
	b := program.NewBuilder(id)
	h.call("program %d %d %d", slot, id, 4)
	code := ok
	rnd, shift := h.rnd, uint64(0)
	if way := h.rnd.IntN(3); slot < 2 || slot >= 10 && way < 2 { // slots 10 and 11 have the ids of 0 and 1
		rnd = rand.New(rand.NewPCG(uint64(id), 9))
		shift = uint64(64 * way * (slot / 10)) // the same bytes elsewhere
	}
	for range 4 {
		n := rnd.IntN(3)
		fmt.Fprintf(&h.calls, "%d ", n)
		var rects []l1.CoreRange
		wrong := ok
		for range n {
			x0, y0 := rnd.IntN(h.spec.Cols), rnd.IntN(h.spec.Rows)
			x1, y1 := x0+rnd.IntN(h.spec.Cols-x0), y0+rnd.IntN(h.spec.Rows-y0)
			switch rnd.IntN(200) {
			case 0:
				x1 = h.spec.Cols
			case 1:
				y1 = h.spec.Rows
			case 2:
				x0 = x1 + 1
			case 3:
				y0 = y1 + 1
			}
			if x0 > x1 || y0 > y1 || x1 >= h.spec.Cols || y1 >= h.spec.Rows {
				wrong = outsideGrid
			}
			fmt.Fprintf(&h.calls, "%d %d %d %d ", x0, y0, x1, y1)
			rects = append(rects, l1.CoreRange{Start: l1.Core{X: uint8(x0), Y: uint8(y0)}, End: l1.Core{X: uint8(x1), Y: uint8(y1)}})
		}
		r := l1.Range{Start: shift + 64*rnd.Uint64N(100)}
		r.End = r.Start + 64*rnd.Uint64N(20)
		switch rnd.IntN(200) {
		case 0:
			r.Start = r.End + 1
		case 1:
			r.End = l1.MaxAddr + 1
		}
		if r.Check() != nil {
			wrong = badRange
		}
		h.call("%d %d", r.Start, r.End)
		if code == ok {
			code = wrong
		}
		if set, err := l1.NewCoreRangeSet(rects...); err == nil && code == ok && n > 0 {
			b.Range(set, r)
		}
	}
	h.want("%d", code)
	h.made[slot] = nil
	if code == ok {
		p, err := b.Build(h.spec)
		require.NoError(h.t, err)
		h.made[slot] = p
	}
}

func (h *history) step() {
	switch slot := h.rnd.IntN(len(h.made)); h.rnd.IntN(8) {
	case 0, 1:
		h.change("register", slot)
	case 2, 3:
		h.change("enqueue", slot)
	case 4, 5:
		h.unregister(program.ID(slot % 10))
	case 6:
		d, x, y := h.rnd.IntN(h.devices), h.rnd.IntN(h.spec.Cols), h.rnd.IntN(h.spec.Rows)
		h.call("core %d %d %d", d, x, y)
		h.core(d, l1.Core{X: uint8(x), Y: uint8(y)})
	case 7:
		x, y := h.rnd.IntN(h.spec.Cols+1), h.rnd.IntN(h.spec.Rows+1)
		h.call("end %d %d %d", slot, x, y)
		end := uint64(0)
		if p := h.made[slot]; p != nil {
			if g, there := p.Occupied(program.CircularBuffer).On(l1.Core{X: uint8(x), Y: uint8(y)}); there {
				end = g.Range(g.NumRanges() - 1).End
			}
		}
		h.want("%d", end)
	}
}

// list draws devices, and returns the code of the list.
func (h *history) list() (set device.Set, code int) {
	var ids []device.ID
	seen := map[int]bool{}
	n := h.rnd.IntN(h.devices + 1)
	fmt.Fprintf(&h.calls, "%d", n)
	for _, d := range h.rnd.Perm(h.devices)[:n] {
		switch h.rnd.IntN(60) {
		case 0:
			d = h.devices
		case 1:
			d = 0
		}
		switch {
		case code != ok:
		case d == h.devices:
			code = noDevice
		case seen[d]:
			code = deviceTwice
		}
		seen[d] = true
		ids = append(ids, device.ID(d))
		fmt.Fprintf(&h.calls, " %d", d)
	}
	h.call("")
	if code == ok {
		var err error
		set, err = h.fleet.Of(ids...)
		require.NoError(h.t, err)
	}
	return set, code
}

// change registers or enqueues the program of a slot.
func (h *history) change(word string, slot int) {
	fmt.Fprintf(&h.calls, "%s %d ", word, slot)
	set, code := h.list()
	p, fresh := h.made[slot], 0
	switch {
	case p == nil:
		code = notRegistered // nobody made it
	case code == ok:
		added, err := h.fleet.Register(p, set)
		if err == nil && word == "enqueue" {
			err = h.fleet.Dispatch(p.ID(), set)
		}
		code, fresh = h.code(err), added.Len()
	}
	h.totals(code, fresh)
}

func (h *history) unregister(id program.ID) {
	fmt.Fprintf(&h.calls, "unregister %d ", id)
	set, code := h.list()
	if code == ok && set.Len() > 0 {
		code = h.code(h.fleet.Unregister(id, set))
	}
	h.totals(code, 0)
}

func (h *history) code(err error) int {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, device.ErrConflict):
		return idTaken
	case errors.Is(err, device.ErrNotRegistered):
		return notRegistered
	}
	require.NoError(h.t, err)
	return 0
}

func (h *history) totals(code, fresh int) {
	fmt.Fprintf(&h.wants, "%d %d", code, fresh)
	for d := range h.fleet.Devices() {
		t := d.Totals()
		fmt.Fprintf(&h.wants, " %d %d %d", t.Registered, t.Resident, t.Logical)
	}
	h.want("")
}

func (h *history) core(d int, core l1.Core) {
	of, found := h.fleet.Snapshot().Device(device.ID(d))
	require.True(h.t, found)
	for g := range of.Groups() {
		if g.Cores.Has(core) {
			fmt.Fprintf(&h.wants, "%d", g.Registered)
			for r := range g.Regions() {
				fmt.Fprintf(&h.wants, " %d-%d", r.Start, r.End)
			}
			h.want("")
			return
		}
	}
	h.want("0")
}

// differ returns the first line in which the driver and the Go engine differ, "" if there is none.
func (h *history) differ(command string) string {
	cmd := exec.Command(command)
	cmd.Stdin = bytes.NewReader(h.calls.Bytes())
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Sprintf("%v: %s", err, exit.Stderr)
	}
	require.NoError(h.t, err)
	got, want := strings.Split(string(out), "\n"), strings.Split(h.wants.String(), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("line %d: %q, and in Go %q", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d lines, and in Go %d", len(got), len(want))
	}
	return ""
}

// TestMerge: the header and the Go engine answer alike after random histories, compiled in each way that hosts compile,
// with -short in one.
func TestMerge(t *testing.T) {
	n := 100
	if testkit.Nightly() {
		n = 1000
	}
	ways := [][]string{{"-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}, {"-std=c++17"}, {"-std=c++20"}}
	if testing.Short() {
		ways = ways[:1]
	}
	h := histories(t, n)
	for code := range overflow {
		require.Regexp(t, fmt.Sprintf(`(?m)^%d( 0 |$)`, code), h.wants.String(), "an answer of each code")
	}
	for _, compiler := range compilers(t) {
		for _, flags := range ways {
			require.Empty(t, h.differ(driver(t, compiler, header(t), slices.Concat(strict, flags)...)), "%s %v", compiler, flags)
		}
	}
}

// TestMergeIsCompared: the histories find errors in the header, of which -short plants one.
func TestMergeIsCompared(t *testing.T) {
	compiler := compilers(t)[0]
	h := histories(t, 100)
	bugs := [][2]string{
		{"if (was != (steps[i].count != 0))", "if (was && !steps[i].count)"},
		{"n + 1 == was.use_count()", "n <= was.use_count()"},
		{"if (named[d] == lists)", "if (d > 3 && named[d] == lists)"},
		{"(left.second ? left.second->bytes : 0)", "0"},
		{"list.empty() || list.back() != i", "true"},
		{"devices == 0) programs.erase(at)", "devices == 0) at->second.devices = 0"},
		{"a->ranges != b->ranges", "false"},
	}
	if testing.Short() {
		bugs = bugs[:1]
	}
	for _, bug := range bugs {
		require.Equal(t, 1, strings.Count(string(header(t)), bug[0]), bug[0])
		text := strings.ReplaceAll(string(header(t)), bug[0], bug[1])
		require.NotEmpty(t, h.differ(driver(t, compiler, []byte(text), "-std=c++17")), bug[0])
	}
}

// TestLimits: sums that would pass 2^63-1 are refused, and nothing has changed.
func TestLimits(t *testing.T) {
	const half, most uint64 = 1 << 62, l1.MaxAddr
	calls := fmt.Sprintf(`fleet 2 1 1
program 0 0 2 1 0 0 0 0 0 %d 1 0 0 0 0 0 %[1]d
program 0 0 1 1 0 0 0 0 0 %[1]d
program 1 1 1 1 0 0 0 0 64 %[1]d
program 2 2 1 1 0 0 0 0 0 %[2]d
enqueue 0 2 0 1
enqueue 1 1 1
register 2 1 0
register 2 2 1 0
enqueue 2 1 5
`, half, most)
	wants := fmt.Sprintf(`7
0
0
0
0 2 %[1]d %[1]d %[1]d %[1]d %[1]d %[1]d
0 1 %[1]d %[1]d %[1]d %[1]d %[2]d %[3]d
7 0 %[1]d %[1]d %[1]d %[1]d %[2]d %[3]d
7 0 %[1]d %[1]d %[1]d %[1]d %[2]d %[3]d
1 0 %[1]d %[1]d %[1]d %[1]d %[2]d %[3]d
`, half, half-64, 2*half-64)
	h := &history{t: t}
	h.calls.WriteString(calls)
	h.wants.WriteString(wants)
	require.Empty(t, h.differ(driver(t, compilers(t)[0], header(t), "-std=c++17")))
}

// TestReadme: the code of README.md compiles, and prints what it is said to.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(text), "```cpp\n")
	code, _, _ = strings.Cut(code, "```")
	folder := t.TempDir()
	source, command := filepath.Join(folder, "readme.cpp"), filepath.Join(folder, "readme")
	whole := "#include <iostream>\n#include \"cbl1.hpp\"\nint main() {\n" + code + "std::cout << int(code) << ' ' << bytes;\n}\n"
	require.NoError(t, os.WriteFile(source, []byte(whole), 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	out, err := exec.Command(compilers(t)[0], "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", here, "-o", command, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	printed, err := exec.Command(command).Output()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("0 %d", 64*(628_000-103_712)), string(printed))
}
