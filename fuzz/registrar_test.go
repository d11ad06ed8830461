package fuzz_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fuzz/suite"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// registrar is a device.Fleet as a suite.Registrar.
type registrar struct{ fleet *device.Fleet }

func newRegistrar(spec l1.Spec) suite.Registrar {
	r := registrar{device.NewFleet()}
	if _, err := r.fleet.AddMesh(0, 1, 2, spec); err != nil {
		panic(err)
	}
	return r
}

func (r registrar) Register(p *program.Program, id uint64) (bool, error) {
	set, err := r.fleet.Of(device.ID(id))
	if err != nil {
		return false, err
	}
	added, err := r.fleet.Register(p, set)
	return added.Len() > 0, err
}

func (r registrar) Unregister(p program.ID, id uint64) error {
	set, err := r.fleet.Of(device.ID(id))
	if err != nil {
		return err
	}
	return r.fleet.Unregister(p, set)
}

func (r registrar) Total(id uint64) uint64 {
	d, err := r.fleet.Device(device.ID(id))
	if err != nil {
		panic(err)
	}
	return d.Registered()
}

func TestRegistrarModel(t *testing.T) { many(t, suite.RegistrarModel(newRegistrar)) }

func FuzzRegistrarModel(f *testing.F) {
	seed(f)
	f.Fuzz(rapid.MakeFuzz(suite.RegistrarModel(newRegistrar)))
}

// twice counts a program that is registered twice once more.
type twice struct{ *fixed }

func (r twice) Register(p *program.Program, device uint64) (bool, error) {
	added, err := r.fixed.Register(p, device)
	for _, b := range cellsOf(p, device) {
		if !added {
			r.held[b]++
		}
	}
	return added, err
}

// sums adds up the programs: bytes that two of them hold count twice.
type sums struct{ *fixed }

func (r sums) Total(device uint64) (n uint64) {
	for b, programs := range r.held {
		if b.device == device {
			n += uint64(programs)
		}
	}
	return n
}

// everywhere takes a program that is on one device for one that is on both.
type everywhere struct{ *fixed }

func (r everywhere) Register(p *program.Program, device uint64) (bool, error) {
	if r.programs[key{p.ID(), 1 - device}] != nil {
		return false, nil
	}
	return r.fixed.Register(p, device)
}

// patient accepts that a program leaves which is not there.
type patient struct{ *fixed }

func (r patient) Unregister(id program.ID, device uint64) error {
	_ = r.fixed.Unregister(id, device)
	return nil
}

// Each error is shown in at most four calls, whatever rapid begins with. To find and shrink it takes
// a counted number of histories.
func TestRegistrarModelFindsErrors(t *testing.T) {
	seeds := 5
	switch {
	case testing.Short():
		seeds = 1
	case testkit.Nightly():
		seeds = 100
	}
	for _, c := range []struct {
		name string
		made func() suite.Registrar
	}{
		{"a byte goes with the first program that leaves", func() suite.Registrar { return newToy(l1.Spec{}) }},
		{"a program that is registered twice counts twice", func() suite.Registrar { return twice{newFixed()} }},
		{"bytes of two programs count twice", func() suite.Registrar { return sums{newFixed()} }},
		{"a program is known on all devices", func() suite.Registrar { return everywhere{newFixed()} }},
		{"a program leaves that is not there", func() suite.Registrar { return patient{newFixed()} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range seeds {
				histories := 0
				message := failsFrom(seed+1, suite.RegistrarModel(func(l1.Spec) suite.Registrar { histories++; return c.made() }), time.Hour)
				t.Logf("seed %d: %d histories", seed+1, histories)
				require.Less(t, histories, 30_000, "seed %d", seed+1)
				calls := regexp.MustCompile(`(?m)^(un)?register .* on device \d -> .*$`).FindAllString(message, -1)
				require.NotEmpty(t, calls, "seed %d", seed+1)
				require.LessOrEqual(t, len(calls), 4, "seed %d:\n%s", seed+1, message)
				for _, p := range regexp.MustCompile(`register program \d (\{.*\}) on`).FindAllStringSubmatch(message, -1) {
					require.Equal(t, "{[0,8) on {[0-0 - 0-0]}}", p[1], "seed %d: nothing empty, and each rectangle once", seed+1)
				}
			}
		})
	}
}

// docs/testing.md shows this code and no other.
func TestTestingPage(t *testing.T) {
	page, err := os.ReadFile("../docs/testing.md")
	require.NoError(t, err)
	code, err := os.ReadFile("toy_test.go")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		for part := range strings.SplitSeq(string(b[1]), "\n\n") {
			require.Contains(t, string(code), strings.TrimSpace(part))
		}
	}
	output := regexp.MustCompile("(?s)```text\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, output)
	want := fmt.Sprintln(fails(suite.RegistrarModel(newToy), time.Hour))
	require.Equal(t, want, string(output[1]))
}
