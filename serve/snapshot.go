package serve

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/shm"
	"github.com/cbl1/cbl1/watch"
	"github.com/cbl1/cbl1/wire"
)

// Snapshot returns what stands now. Processes that are shown under one id are one row for each
// device. Cost: O(devices, and processes times the devices that they named).
func (s *Server) Snapshot() watch.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := watch.Snapshot{
		Schema: watch.Schema, Source: watch.SourceRecords, Time: s.c.Now().UnixNano(), Devices: []watch.Device{}, Processes: s.rows(), Odd: []watch.Odd{}, Leaked: s.counts.Leaked,
	}
	for _, id := range s.devices() {
		if s.known[id].Chips != nil {
			continue // what backs the buffers of its chips
		}
		out.Devices = append(out.Devices, s.row(id))
	}
	odd := s.ledger.Anomalies()
	for _, a := range wire.Anomalies() {
		if odd[a] > 0 {
			out.Odd = append(out.Odd, watch.Odd{Code: string(a), Count: odd[a]})
		}
	}
	return out
}

// row is what the ledger says of a device, with what the session makes of it: bytes of cores,
// as a bound. Records tell of no dispatch, nor how many bytes of a core a buffer has. Of a
// device that is not declared one core stands for all.
func (s *Server) row(id int32) watch.Device {
	followed := watch.Device{Core: new(uint64), Peak: &watch.Peak{}} // nothing has lived there
	if d, err := s.live.Fleet().Device(device.ID(id)); err == nil {
		followed = watch.Of(d)
	}
	t := s.ledger.Totals(id)
	kernels := t.KernelBytes()
	d := watch.Device{
		Device: uint64(id), Bound: true, Incomplete: s.unsure[id], Core: followed.Core, Peak: &watch.Peak{Core: followed.Peak.Core}, Headroom: followed.Headroom, Programs: &t.CBs, Sum: &t.CB,
		L1: t.L1, L1Small: t.L1Small, DRAM: t.DRAM, Trace: t.Trace, Kernels: &kernels,
	}
	if _, declared := s.known[id]; declared {
		d.Peak.Registered = followed.Peak.Registered
		d.Board, d.Cores, d.Usable, d.Registered, d.Logical = followed.Board, followed.Cores, followed.Usable, followed.Registered, followed.Logical
	}
	return d
}

// Usage returns what a region of shared memory says of a device that was declared. CB bytes
// are those that are registered, summed over its cores, as if each CB were on every core:
// records tell neither of cores nor of dispatches.
func (s *Server) Usage(id int32) shm.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.row(id)
	u := shm.Usage{DRAM: d.DRAM, L1: d.L1, L1Small: d.L1Small, Trace: d.Trace}
	if d.Registered != nil {
		u.CB = *d.Registered
	}
	return u
}

// rows are the processes that have something.
func (s *Server) rows() []watch.Process {
	type on struct{ pid, device int32 }
	rows := map[on]*watch.Process{}
	for _, p := range s.all {
		for id := range p.devices {
			t := s.ledger.TotalsOf(p.owner, id)
			if t == (wire.Totals{}) {
				continue
			}
			at := on{p.shown(), id}
			r := rows[at]
			if r == nil {
				device := uint64(uint32(id))
				r = &watch.Process{PID: at.pid, Device: &device}
				rows[at] = r
			}
			r.Dead = r.Dead || !p.since.IsZero()
			r.CB, r.L1, r.L1Small, r.DRAM, r.Trace, r.Kernels = r.CB+t.CB, r.L1+t.L1, r.L1Small+t.L1Small, r.DRAM+t.DRAM, r.Trace+t.Trace, r.Kernels+t.KernelBytes()
		}
	}
	out := []watch.Process{}
	for _, at := range slices.SortedFunc(maps.Keys(rows), func(a, b on) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.device, b.device))
	}) {
		out = append(out, *rows[at])
	}
	return out
}

// Detail returns what lies on the cores of a device, with CBs on all of them. It is nil if nothing
// was said about the device. Cost: that of Device.UsageGroups, without the lock of the server.
func (s *Server) Detail(id int32) *watch.Detail {
	d, err := s.live.Fleet().Device(device.ID(id))
	if err != nil {
		return nil
	}
	return watch.DetailOf(d)
}

// Moment returns the events of a log that begins now: its header, the devices, what lives,
// and which clients were lost. Cost: O(n log n) in what lives.
func (s *Server) Moment() []event.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Collect(s.moment(&wire.Teller{T: s.stamp()}))
	for i := range all {
		if all[i].Pos.Line = int64(i) + 1; all[i].Pos.Node == 0 { // it is of a line, as in a log that is read
			all[i].Pos.Node, all[i].Node = int64(i), uint64(i)
		}
	}
	return all
}

// moment tells all that a log needs which begins now.
func (s *Server) moment(teller *wire.Teller) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		all := teller.Header()
		for _, id := range s.devices() {
			if d, declared := s.known[id]; declared {
				all = append(all, teller.Declare(d))
			}
		}
		for _, e := range all {
			if !yield(e) {
				return
			}
		}
		for lot := range s.ledger.Live() {
			for _, e := range teller.Came(&lot) {
				if !yield(e) {
					return
				}
			}
		}
		for _, l := range s.lost {
			if !yield(l.event(teller.T)) {
				return
			}
		}
	}
}
