package replay_test

import (
	"io"
	"iter"
	"reflect"

	"github.com/cbl1/cbl1/capture"
	"github.com/cbl1/cbl1/event"
)

// events reads an event log.
func events(in io.Reader, file string) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		if !yield(&event.Event{Kind: event.KindHeader}, nil) {
			return
		}
		for e, err := range capture.NewLog(in, file).Events() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(convert(e), nil) {
				return
			}
		}
	}
}

func convert(e *capture.LogEvent) *event.Event {
	out := &event.Event{
		Pos: event.Pos(e.Pos), Node: uint64(e.Pos.Node), Kind: event.Kind(e.Kind), Anomaly: event.Anomaly(e.Anomaly),
		T: e.T, Process: e.Process, Tag: e.Tag, ID: e.ID, Device: e.Device, Spec: e.Spec, Rows: e.Rows, Cols: e.Cols,
		Program: e.Program, Name: e.Name, Trace: e.Trace, Buffer: e.Buffer, Query: e.Query, Core: e.Core, QueryAddr: e.Address,
	}
	out.Devices.V, out.Devices.OK = e.Devices.V, e.Devices.OK
	out.With.V, out.With.OK = e.With.V, e.With.OK
	out.CB.V, out.CB.OK = e.CB.V, e.CB.OK
	for _, cb := range e.CBs {
		out.CBs = append(out.CBs, event.CB{CB: cb})
	}
	for _, p := range e.Parts {
		part := event.Part{Range: p.Range}
		part.Cores.V, part.Cores.OK = p.Cores.V, p.Cores.OK
		out.Parts = append(out.Parts, part)
	}
	has := reflect.ValueOf(e).Elem().FieldByName("has")
	out.Has = event.QueryHas{Device: has.Field(0).Bool(), Program: has.Field(1).Bool(), Core: has.Field(2).Bool(), Address: has.Field(3).Bool()}
	if bad := reflect.ValueOf(e).Elem().FieldByName("bad"); !bad.IsNil() {
		out.Bad = &event.InputError{Node: -1, Field: bad.Elem().FieldByName("Field").String(), Value: bad.Elem().FieldByName("Value").String(),
			Reason: bad.Elem().FieldByName("Reason").String()}
	}
	return out
}

const logHead = `{"event":"log","version":1}` + "\n"
