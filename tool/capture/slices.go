package capture

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/internal/jsonobject"
	"github.com/cbl1/cbl1/tool/capture/internal/graph"
)

// A partReader reads a part of a database into a document.
type partReader struct {
	*graph.Document
	part *part
}

// slices reads a part of a database: all that a report says, one slice after the other.
func (r *partReader) slices() error {
	p := r.part
	r.Object = true
	r.Info.Rank = p.rank
	if p.rank.V == 0 && !slices.ContainsFunc(p.all, func(o *part) bool { return o.rank.V > 0 }) {
		r.Info.Rank = p.said // 0 is what tables say of reports without ranks
	}
	if err := r.devices(); err != nil {
		return err
	}
	s, d := jsonobject.New(nil, graph.BufferSize), r.Decoder(r.File)
	r.Before = graph.Shift{Buffers: map[uint64]bool{}}
	for i := range p.slices {
		one := &p.slices[i]
		one.start = r.Before.Nodes
		if err := r.slice(s, one.row, func() error { return r.Array(s, d) }); err != nil {
			return err
		}
		if err := r.Ended(one.start, r.Before.Nodes); err != nil {
			return err
		}
	}
	if err := r.borders(); err != nil {
		return err
	}
	return r.lostOperations()
}

// slice reads the graph of one operation with a function. Errors have the place in the table, and counters
// as they stand there.
func (r *partReader) slice(s *jsonobject.Scanner, row int64, array func() error) error {
	text, err := r.part.tables.Text(graphTable, graphTable, row)
	if err != nil {
		return r.part.error(graphTable, graphTable, row, err.Error(), err)
	}
	s.Reset(text)
	clear(r.Before.Buffers)
	k, err := s.Kind()
	switch {
	case err != nil:
	case k != jsonobject.KindArray:
		err = r.ErrorAt(s, "", "is "+k.String()+", not an array of nodes", event.ErrNotCapture)
	default:
		if err = array(); err == nil {
			err = s.End()
		}
	}
	err = graph.ScanError(r.File, -1, err)
	if e, ok := errors.AsType[*event.InputError](err); ok {
		e.Table, e.Column, e.Row = graphTable, graphTable, row
		return e
	}
	r.Before.Nodes += uint64(r.Count)
	r.Before.Bytes += s.Offset()
	r.Before.Lines += s.Line()
	return err
}

// devices reads the table of devices, which comes before all nodes.
func (r *partReader) devices() error {
	t, ok := r.part.table("devices", 1, "device_id", "num_x_compute_cores", "num_y_compute_cores", "worker_l1_size", "address_at_first_l1_cb_buffer", "l1_bank_size", rankColumn)
	if !ok {
		return nil
	}
	seen := map[graph.Device]bool{} // files that were imported together have the same devices
	return t.each(func(row *cells) error {
		id, rank := row.number("device_id", jsonobject.MaxInt), row.number(rankColumn, jsonobject.MaxWhole)
		info := graph.ReadDevice(row.number)
		info.ID = id.V
		if row.err == nil && !id.OK {
			row.err = t.error("device_id", row.ID, "missing", nil)
		}
		if row.err != nil {
			r.Info.Unread.Add(row.err)
			info, rank = graph.Device{Unreadable: true}, event.Opt[uint64]{}
		}
		if r.part.owns(rank) && !seen[info] {
			seen[info] = true
			r.Info.Devices = append(r.Info.Devices, info)
		}
		return nil
	})
}

// borders reads which buffers lived when each operation ended.
func (r *partReader) borders() error {
	p := r.part
	t, ok := p.table(buffersTable, 4, "operation_id", "address", "max_size_per_bank", "buffer_type", "device_id", rankColumn)
	if !ok || r.Listed == nil {
		return nil
	}
	lists, unread := false, graph.UnreadRows{} // a row is of the part, or may be
	err := t.each(func(row *cells) error {
		id, rank := row.number("operation_id", jsonobject.MaxWhole), row.number(rankColumn, jsonobject.MaxWhole)
		i, ok := p.slice(id.V)
		if !lists && (ok || row.err != nil) && p.owns(rank) {
			lists = true
			for i, one := range p.slices {
				if r.nodesOf(i) > 0 {
					r.Listed(graph.ListedBuffer{Begins: true, At: one.start})
				}
			}
		}
		b := graph.ReadListed(0, row.number)
		if row.err != nil {
			unread.Add(row.err)
			return nil
		}
		if !ok || !p.owns(rank) || r.nodesOf(i) == 0 {
			return nil
		}
		if !r.Before.NamedDevice {
			b.Named = event.NoDevice // the graphs are of 2024 and do not distinguish devices
		}
		b.At = p.slices[i].start
		r.Listed(b)
		return nil
	})
	if lists {
		r.Info.Listed = unread
	}
	return err
}

// nodesOf returns how many nodes a slice has, once all were read.
func (r *partReader) nodesOf(i int) uint64 {
	if i+1 < len(r.part.slices) {
		return r.part.slices[i+1].start - r.part.slices[i].start
	}
	return r.Before.Nodes - r.part.slices[i].start
}

// lostOperations finds what the database names and has no graph of: operations, and errors
// that no node of a graph stands for.
func (r *partReader) lostOperations() error {
	ids := map[uint64]bool{}
	err := r.eachLost("operations", "name", func(id uint64, name string) {
		ids[id] = true
		r.Info.Lose(name)
	})
	if err != nil {
		return err
	}
	shown := r.Before.Errors
	return r.eachLost("errors", "operation_name", func(id uint64, name string) {
		if shown--; shown < 0 && !ids[id] {
			r.Info.Lose(name)
		}
	})
}

// eachLost calls do with the rows of a table about operations without a slice.
func (r *partReader) eachLost(name, label string, do func(id uint64, name string)) error {
	t, ok := r.part.table(name, 1, "operation_id", label, rankColumn)
	if !ok {
		return nil
	}
	return t.each(func(row *cells) error {
		id, rank := row.number("operation_id", jsonobject.MaxWhole), row.number(rankColumn, jsonobject.MaxWhole)
		switch {
		case row.err != nil:
			r.Info.Unread.Add(row.err)
		case id.OK && r.part.loses(id.V, rank):
			do(id.V, row.text(label))
		}
		return nil
	})
}

// loses reports whether no part has a slice of an operation, which belongs to this one.
func (p *part) loses(operation uint64, rank event.Opt[uint64]) bool {
	var of *part
	for _, o := range p.all {
		if !o.owns(rank) {
			continue
		}
		if _, ok := o.slice(operation); ok {
			return false
		}
		if of == nil || o.slices[0].operation <= operation {
			of = o
		}
	}
	return of == p
}

// Counter returns the counter of a node of a database among all nodes of the capture, as Options.At needs
// it. The node is named by its operation and its counter in the graph of the operation. Errors are
// *event.InputError. It counts the nodes before it.
func (in Input) Counter(operation, node uint64) (uint64, error) {
	p := in.part
	if p == nil {
		return 0, &event.InputError{File: in.Path, Node: -1, Reason: "has no nodes of an operation, as a report database does: name a node by its counter alone"}
	}
	i, ok := p.slice(operation)
	if !ok {
		return 0, &event.InputError{File: in.Path, Table: graphTable, Node: -1, Reason: fmt.Sprintf("there is no operation %d", operation)}
	}
	r, s := &partReader{&graph.Document{File: in.Path}, p}, jsonobject.New(nil, graph.BufferSize)
	var before uint64
	for j := range i + 1 {
		before, r.Count = r.Before.Nodes, 0
		err := r.slice(s, p.slices[j].row, func() error {
			return s.Each(func() error {
				r.Count++
				return s.Skip()
			})
		})
		if err != nil {
			return 0, err
		}
	}
	if n := r.Before.Nodes - before; node >= n {
		return 0, &event.InputError{File: in.Path, Table: graphTable, Row: p.slices[i].row, Node: -1,
			Reason: fmt.Sprintf("there is no node %d in operation %d: it has %d of them, counted from 0", node, operation, n)}
	}
	return before + node, nil
}
