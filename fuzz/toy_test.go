package fuzz_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// The code of docs/testing.md: TestTestingPage compares it with the page.

// cell is a byte of a core.
type cell struct {
	device uint64
	core   l1.Core
	addr   uint64
}

// cellsOf returns the bytes that a program takes on a device.
func cellsOf(p *program.Program, device uint64) (out []cell) {
	for group := range p.Occupied(program.CircularBuffer).Groups() {
		for core := range group.Cores().All() {
			for r := range group.Ranges() {
				for addr := r.Start; addr < r.End; addr++ {
					out = append(out, cell{device, core, addr})
				}
			}
		}
	}
	return out
}

// key is a program on a device.
type key struct {
	id     program.ID
	device uint64
}

// toy is somebody's tracker. It counts the programs that hold a byte.
type toy struct {
	programs map[key]*program.Program
	held     map[cell]int
}

func newToy(l1.Spec) suite.Registrar {
	return &toy{map[key]*program.Program{}, map[cell]int{}}
}

func (t *toy) Register(p *program.Program, device uint64) (bool, error) {
	k := key{p.ID(), device}
	if t.programs[k] != nil {
		return false, nil
	}
	t.programs[k] = p
	for _, b := range cellsOf(p, device) {
		t.held[b]++
	}
	return true, nil
}

func (t *toy) Unregister(id program.ID, device uint64) error {
	k := key{id, device}
	if t.programs[k] == nil {
		return errors.New("not registered")
	}
	for _, b := range cellsOf(t.programs[k], device) {
		delete(t.held, b)
	}
	delete(t.programs, k)
	return nil
}

func (t *toy) Total(device uint64) (n uint64) {
	for b, programs := range t.held {
		if b.device == device && programs > 0 {
			n++
		}
	}
	return n
}

// A tester writes rapid.Check(t, suite.RegistrarModel(newToy)). Here fails runs the property with
// the same choices each time, and returns the smallest counterexample.
func Example_registrar() {
	fmt.Println(fails(suite.RegistrarModel(newToy), time.Hour))
	// Output:
	// register program 1 {[0,8) on {[0-0 - 0-0]}} on device 0 -> true, <nil>
	// register program 2 {[0,8) on {[0-0 - 0-0]}} on device 0 -> true, <nil>
	// unregister program 1 on device 0 -> <nil>
	// total of device 0
	//  got: 0
	// want: 8
}

// fixed is the toy without the error.
type fixed struct{ toy }

func newFixed() *fixed {
	return &fixed{toy{map[key]*program.Program{}, map[cell]int{}}}
}

func (f *fixed) Unregister(id program.ID, device uint64) error {
	k := key{id, device}
	if f.programs[k] == nil {
		return errors.New("not registered")
	}
	for _, b := range cellsOf(f.programs[k], device) {
		f.held[b]--
	}
	delete(f.programs, k)
	return nil
}

func TestFixed(t *testing.T) {
	rapid.Check(t, suite.RegistrarModel(func(l1.Spec) suite.Registrar { return newFixed() }))
}

// Clear unregisters all programs of a device.
func (f *fixed) Clear(device uint64) {
	for k := range f.programs {
		if k.device == device {
			_ = f.Unregister(k.id, device)
		}
	}
}

func clearing(t *rapid.T) {
	spec := gen.ToySpec().Draw(t, "spec")
	tracker := newFixed()
	live := map[key]*program.Program{} // the model
	device := rapid.Uint64Range(0, 1)
	t.Repeat(map[string]func(*rapid.T){
		"register": func(t *rapid.T) {
			p, d := gen.Program(spec, 1, 2, 3).Draw(t, "program"), device.Draw(t, "device")
			added, err := tracker.Register(p, d)
			t.Logf("register %#v on device %d -> %v, %v", p, d, added, err)
			if k := (key{p.ID(), d}); live[k] == nil {
				live[k] = p
			}
		},
		"clear": func(t *rapid.T) {
			d := device.Draw(t, "device")
			t.Logf("clear device %d", d)
			tracker.Clear(d)
			maps.DeleteFunc(live, func(k key, _ *program.Program) bool { return k.device == d })
		},
		"": func(t *rapid.T) { // after every step
			want := map[cell]bool{}
			for k, p := range live {
				for _, b := range cellsOf(p, k.device) {
					want[b] = true
				}
			}
			if got := tracker.Total(0) + tracker.Total(1); got != uint64(len(want)) {
				t.Fatalf("%d bytes, want %d", got, len(want))
			}
		},
	})
}

func TestClearing(t *testing.T) { rapid.Check(t, clearing) }

func FuzzClearing(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(clearing))
}
