package device_test

import (
	"iter"
	"slices"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func cores(text string) l1.CoreRangeSet { return l1.MustParseCoreRangeSet(text) }

func core(x, y uint8) l1.Core { return l1.Core{X: x, Y: y} }

// cb is a local circular buffer.
func cb(on string, size uint64) program.CB { return program.CB{Cores: cores(on), Size: size} }

// at is a local circular buffer at a given address.
func at(addr uint64, c program.CB) program.CB {
	c.Address, c.Fixed = addr, true
	return c
}

// global is a circular buffer that lives in a tensor.
func global(c program.CB) program.CB {
	c.Global = true
	return c
}

// groupOn returns what lives on a core.
func groupOn(d device.Device, core l1.Core, basis device.Basis) (on device.UsageGroup) {
	for g := range d.UsageGroups(basis) {
		if g.Cores.Has(core) {
			on = g
		}
	}
	return on
}

func build(t require.TestingT, spec l1.Spec, id program.ID, cbs ...program.CB) *program.Program {
	b := program.NewBuilder(id)
	for _, c := range cbs {
		b.CB(c)
	}
	p, err := b.Build(spec)
	require.NoError(t, err)
	return p
}

func resize(t require.TestingT, p *program.Program, cb int, size uint64) *program.Program {
	out, err := p.Resize(cb, size)
	require.NoError(t, err)
	return out
}

func addDevice(t require.TestingT, f *device.Fleet, id device.ID, spec l1.Spec) device.Device {
	d, err := f.AddDevice(id, spec)
	require.NoError(t, err)
	return d
}

func addMesh(t require.TestingT, f *device.Fleet, first device.ID, rows, cols int, spec l1.Spec) device.Mesh {
	m, err := f.AddMesh(first, rows, cols, spec)
	require.NoError(t, err)
	return m
}

func of(t require.TestingT, f *device.Fleet, ids ...device.ID) device.Set {
	s, err := f.Of(ids...)
	require.NoError(t, err)
	return s
}

func sub(t require.TestingT, m device.Mesh, row, col, rows, cols int) device.Set {
	s, err := m.Sub(row, col, rows, cols)
	require.NoError(t, err)
	return s
}

// register returns the ids of the devices that are new.
func register(t require.TestingT, f *device.Fleet, p *program.Program, s device.Set) []device.ID {
	added, err := f.Register(p, s)
	require.NoError(t, err)
	return ids(added)
}

func replace(t require.TestingT, f *device.Fleet, old, new *program.Program) []device.ID {
	on, err := f.Replace(old.ID(), new)
	require.NoError(t, err)
	return ids(on)
}

func ids(s device.Set) []device.ID { return slices.Collect(s.All()) }

func programIDs(programs iter.Seq[*program.Program]) []program.ID {
	var out []program.ID
	for p := range programs {
		out = append(out, p.ID())
	}
	return out
}

func regions(r iter.Seq[l1.Range]) []l1.Range { return slices.Collect(r) }

// regionsOn returns the regions of a core in a snapshot.
func regionsOn(d *device.DeviceSnapshot, core l1.Core) (on []l1.Range) {
	for g := range d.Groups() {
		if g.Cores.Has(core) {
			on = regions(g.Regions())
		}
	}
	return on
}

func intact(t require.TestingT, f *device.Fleet) { require.NoError(t, f.CheckInvariants()) }

// A row is all that can be seen of one device.
type row struct {
	ID         device.ID
	Registered uint64
	Totals     device.Totals
	Programs   []program.ID
	Groups     []group
}

// A group is a CoreGroup with everything spelled out.
type group struct {
	Cores               string
	Registered, Logical uint64
	Programs            int
	Regions             []l1.Range
}

// picture is all that can be seen of a fleet, to be compared before and after.
func picture(f *device.Fleet) []row {
	var out []row
	for d := range f.Snapshot().All() {
		live, _ := f.Device(d.ID())
		r := row{ID: d.ID(), Registered: live.Registered(), Totals: d.Totals(), Programs: programIDs(d.Programs())}
		for g := range d.Groups() {
			r.Groups = append(r.Groups, spell(g))
		}
		out = append(out, r)
	}
	return out
}

func spell(g device.CoreGroup) group {
	return group{g.Cores.String(), g.Registered, g.Logical, g.Programs, regions(g.Regions())}
}

// unchanged runs something that must leave no trace.
func unchanged(t require.TestingT, f *device.Fleet, do func()) {
	before := picture(f)
	do()
	require.Equal(t, before, picture(f))
	intact(t, f)
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// ofBuffer is an error of a method about a buffer on a device.
func ofBuffer(op string, b fit.BufferID, d device.ID, err error) *device.Error {
	return &device.Error{Op: op, About: device.AboutBuffer | device.AboutDevice, Buffer: b, Device: d, Err: err}
}

// ofProgram is an error of a method about a program on a device.
func ofProgram(op string, p program.ID, d device.ID, err error) *device.Error {
	return &device.Error{Op: op, About: device.AboutProgram | device.AboutDevice, Program: p, Device: d, Err: err}
}
