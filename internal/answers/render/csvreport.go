package render

import (
	"iter"

	"github.com/cbl1/cbl1/replay"
)

// A csvDevice is what a report says of one device.
type csvDevice struct {
	csvFile
	Answer replay.Answer `json:"answer"`
	Untold []replay.Code `json:"untold"`
	Key    string        `json:"device"` // in devices
	*replay.Device
	L1 replay.DeviceL1 `json:"l1"`
}

// deviceRows are the devices of a report. Under some ids nothing ran, and only buffers lie
// there.
func deviceRows(r *replay.Result) iter.Seq[csvDevice] {
	return func(yield func(csvDevice) bool) {
		ran := map[any]*replay.Device{}
		for i := range r.Devices {
			ran[r.Devices[i].ID] = &r.Devices[i]
		}
		j := r.Judge(replay.Terms{})
		row := csvDevice{Answer: j.Answer, Untold: replay.CodesOf(j.Untold)}
		peaks := map[replay.Laid]*replay.L1Peak{}
		for i := range r.L1 {
			on := r.L1[i]
			on.Peak = peakFigures(peaks, on.Peak)
			row.csvFile, row.Key = newCSVFile(r, on.ID), replay.DeviceKey(on.ID)
			row.Device, row.L1 = ran[on.ID], on.Document(r.SpecOf(on.ID))
			if !yield(row) {
				return
			}
		}
	}
}

// peakFigures returns a peak with its figures, and without lists. Peaks with the same name share figures.
func peakFigures(known map[replay.Laid]*replay.L1Peak, p *replay.L1Peak) *replay.L1Peak {
	if p == nil {
		return nil
	}
	name, named := p.Laid()
	like := known[name]
	if like == nil || !named {
		like = p.Composed()
		known[name] = like
	}
	return &replay.L1Peak{
		Bytes: p.Bytes, At: p.At, T: p.T, Op: p.Op, Core: p.Core, Cores: p.Cores, Spike: p.Spike,
		WithKernels: like.WithKernels, Top: like.Top, Largest: like.Largest,
	}
}

// A csvOn is what each row says of the device that it is about.
type csvOn struct {
	csvFile
	Device string            `json:"device"` // its key in devices
	Kind   replay.DeviceKind `json:"kind"`
	Chips  []uint64          `json:"chips"`
}

func newCSVOn(r *replay.Result, d *replay.Device) csvOn {
	return csvOn{newCSVFile(r, d.ID), replay.DeviceKey(d.ID), d.Kind, d.Chips}
}

// A csvProgram is a program of a device.
type csvProgram struct {
	csvOn
	replay.ProgramDetail
}

func programRows(r *replay.Result) iter.Seq[csvProgram] {
	return func(yield func(csvProgram) bool) {
		for i := range r.Devices {
			on := newCSVOn(r, &r.Devices[i])
			for p := range programsOf(r, &r.Devices[i]) {
				if !yield(csvProgram{on, p}) {
					return
				}
			}
		}
	}
}

// A csvGroup is a group of cores of a device.
type csvGroup struct {
	csvOn
	replay.CoreGroup
}

func groupRows(r *replay.Result) iter.Seq[csvGroup] {
	return func(yield func(csvGroup) bool) {
		for i := range r.Devices {
			on := newCSVOn(r, &r.Devices[i])
			for _, g := range r.Devices[i].CoreGroups {
				if !yield(csvGroup{on, g}) {
					return
				}
			}
		}
	}
}
