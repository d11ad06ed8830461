package capture

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/event"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

func gather(t require.TestingT, path string, opt Options) []*event.Event {
	var out []*event.Event
	for e, err := range (Input{Path: path}).Events(opt) {
		require.NoError(t, err)
		if e.Kind == event.KindAgain {
			out = nil
			continue
		}
		out = append(out, e)
	}
	return out
}

func optID(id device.ID) Opt[uint64] {
	if id == event.NoDevice {
		return Opt[uint64]{}
	}
	return some(uint64(id))
}

func cbsKey(s string, cb program.CB) string {
	return s + fmt.Sprintf("|%v %v %d %v %d %v", cb.Kind, cb.Cores, cb.Size, cb.Global, cb.Address, cb.Fixed || !cb.Global)
}

// SameAsReplay compares.
func SameAsReplay(t require.TestingT, path string, opt Options) {
	old := map[string]int{}
	opt.Enqueued = func() func(Enqueued) {
		clear(old)
		return func(e Enqueued) {
			key := fmt.Sprintf("%d %d %s %v", e.At, 0, e.Run.Op, e.Run.Inferred)
			if e.Run.Inferred {
				key = fmt.Sprintf("%d %d %s %v", e.At, e.Run.At, e.Run.Op, e.Run.Inferred)
			}
			for p := range e.Programs() {
				for _, cb := range p.CBs() {
					key = cbsKey(key, cb.CB)
				}
			}
			old[key] += e.Devices
		}
	}
	want, err := Input{Path: path}.Replay(opt)
	require.NoError(t, err)
	events := gather(t, path, opt)
	got := map[string]int{}
	programs := map[program.ID]*event.Event{}
	type row struct{ unplaced, assumed, backings, programs, cbs int64 }
	rows := map[device.ID]*row{}
	seen := map[device.ID]*event.Event{}
	live := map[device.BufferID]*event.Event{}
	backing := map[device.BufferID]bool{}
	lies := map[device.BufferID][]device.ID{}
	var upstream event.Upstream
	var earlier Earlier
	var end *event.Event
	var apart []uint64
	notes := map[string]AnomalyCount{}
	var details []string
	cur := map[device.ID]string{}
	at := func(id device.ID) *row {
		if rows[id] == nil {
			rows[id] = &row{}
		}
		return rows[id]
	}
	for _, e := range events {
		switch e.Kind {
		case event.KindDevice:
			if seen[e.Device] == nil && e.Like.OK {
				at(e.Device).unplaced = at(e.Like.V).unplaced
				at(e.Device).assumed = at(e.Like.V).assumed
				at(e.Device).backings = at(e.Like.V).backings
			}
			seen[e.Device] = e
		case event.KindProgram:
			programs[e.Program] = e
		case event.KindRun:
			key := fmt.Sprintf("%d %d %s %v", e.Node, 0, e.Op.V, e.Inferred)
			if e.Inferred {
				key = fmt.Sprintf("%d %d %s %v", e.Node, e.On[0].First, e.Op.V, e.Inferred)
			}
			for _, circular := range []bool{true, false} {
				for _, cb := range programs[e.Program].CBs {
					if (cb.Kind == program.CircularBuffer) == circular {
						key = cbsKey(key, cb.CB)
					}
				}
			}
			got[key] += len(e.On)
			for _, on := range e.On {
				if !e.Inferred {
					op := on.CBOp.Or(e.Op.V)
					n := 0
					for _, cb := range programs[e.Program].CBs {
						if cb.Kind == program.CircularBuffer {
							n++
						}
					}
					if n > 0 {
						cur[on.Device] = fmt.Sprintf("%d %d-%d %s %d", on.Device, on.CBFirst, on.CBLast, op, n)
					}
				}
			}
		case event.KindCBsFreed:
			for _, id := range e.Devices.V {
				if cur[id] != "" {
					details = append(details, cur[id])
				}
				delete(cur, id)
			}
		case event.KindAllocate:
			switch {
			case e.Earlier:
				if e.Buffer.Kind == device.KindL1 || e.Buffer.Kind == device.KindL1Small {
					earlier.L1++
					earlier.Bytes += e.Buffer.Size
				} else {
					earlier.Other++
				}
			case e.Buffer.Backing:
				at(e.Devices.V[0]).backings++
				backing[e.Buffer.ID] = true
			case e.Corrects:
				require.NotNil(t, live[e.Buffer.ID])
				live[e.Buffer.ID] = e
			default:
				live[e.Buffer.ID] = e
				for _, id := range e.Devices.V {
					require.NotContains(t, lies[e.Buffer.ID], id)
					lies[e.Buffer.ID] = append(lies[e.Buffer.ID], id)
					if e.Unplaced != "" {
						at(id).unplaced++
					}
					if e.CoresFrom != "" {
						at(id).assumed++
					}
				}
			}
		case event.KindFree:
			if e.Unknown {
				break
			}
			if backing[e.Buffer.ID] {
				delete(backing, e.Buffer.ID)
				break
			}
			require.NotNil(t, live[e.Buffer.ID])
			require.ElementsMatch(t, lies[e.Buffer.ID], e.Devices.V)
			delete(live, e.Buffer.ID)
		case event.KindUpstream:
			upstream = e.Upstream
		case event.KindEnd:
			end = e
		case event.KindHidden, event.KindAnomaly:
			if e.Code == "buffers-apart" {
				for _, id := range e.Devices.V {
					apart = append(apart, uint64(id))
				}
				break
			}
			first := int64(e.Node)
			if e.Pos.Node == -1 {
				first = -1
			}
			notes[e.Code] = AnomalyCount{Code(e.Code), e.Count, first, e.Detail}
		}
	}
	for _, s := range cur {
		details = append(details, s)
	}
	require.Equal(t, old, got)
	require.Equal(t, want.Upstream, upstream)
	require.Equal(t, want.Nodes, end.Nodes)
	require.Equal(t, want.Rank, end.Rank)
	require.Equal(t, want.Spec, Spec{end.Spec, end.From.Arch, end.From.Base})
	earlier.Freed = want.Earlier.Freed
	require.Equal(t, want.Earlier, earlier)
	require.Equal(t, want.Checks.Apart, apart)
	var meshes []Mesh
	for _, e := range seen {
		if len(e.Chips) > 0 {
			m := Mesh{ID: uint64(e.Device)}
			for _, c := range e.Chips {
				m.Chips = append(m.Chips, uint64(c))
			}
			meshes = append(meshes, m)
		}
	}
	slices.SortFunc(meshes, func(a, b Mesh) int { return cmp.Compare(a.ID, b.ID) })
	require.Equal(t, want.Meshes, meshes)
	for _, d := range want.L1 {
		id := slotOf(d.ID)
		e := seen[id]
		require.NotNil(t, e)
		require.Equal(t, string(d.Kind), string(e.Role))
		require.Equal(t, d.NumCores, e.Spec.Grid().Cores().Len())
		require.Equal(t, d.CoresFrom, e.From.Grid)
		r := at(id)
		require.Equal(t, []int64{d.Unplaced, d.Assumed, d.Backings}, []int64{r.unplaced, r.assumed, r.backings}, "device %v", d.ID)
	}
	var wantDetails []string
	for _, d := range want.Devices {
		for _, p := range d.ProgramsDetail {
			wantDetails = append(wantDetails, fmt.Sprintf("%d %d-%d %s %d", slotOf(d.ID), p.First, p.Last, p.Op, p.LocalCBs+p.GlobalCBs))
		}
	}
	slices.Sort(wantDetails)
	slices.Sort(details)
	require.Equal(t, wantDetails, details)
	var infos, gotInfos []string
	for _, b := range want.Live.List {
		infos = append(infos, fmt.Sprintf("%+v", b))
	}
	for _, e := range live {
		b := BufferInfo{At: e.Node, Op: e.Op.V, Device: optIDOpt(e.Named), Kind: e.Buffer.Kind, Size: e.Buffer.Size, PerCore: e.PerCore, Address: e.Address, Layout: e.Layout}
		gotInfos = append(gotInfos, fmt.Sprintf("%+v", b))
	}
	slices.Sort(infos)
	slices.Sort(gotInfos)
	require.Equal(t, infos, gotInfos)
	mine := strings.Fields("bad-device-tensors dangling-connection duplicate-key end-without-start id-collision inferred layout-late mesh-late mesh-unknown operation-failed specs-differ unattributed unfinished unknown-node-type cache-hit free-without-cbs")
	for _, a := range want.Anomalies {
		if slices.Contains(mine, string(a.Code)) {
			require.Equal(t, a, notes[string(a.Code)])
			delete(notes, string(a.Code))
		}
	}
	delete(notes, "buffer-unplaced")
	require.Empty(t, notes)
	// Ahead agrees.
	opt.Ahead = true
	ahead := gather(t, path, opt)
	require.Equal(t, len(events), len(ahead))
	for i := range events {
		require.True(t, reflect.DeepEqual(events[i], ahead[i]), "%+v\n%+v", events[i], ahead[i])
	}
	_ = l1.MaxAddr
}

func optIDOpt(o Opt[device.ID]) Opt[uint64] {
	if !o.OK {
		return Opt[uint64]{}
	}
	return optID(o.V)
}

func TestSameAsReplay(t *testing.T) {
	var files []string
	for _, g := range []string{"testdata/*.json", "testdata/ranks/graph*_of_2.json", "../../shared/traces/*.json"} {
		f, _ := filepath.Glob(g)
		files = append(files, f...)
	}
	for _, f := range files {
		if strings.HasSuffix(f, ".expected.json") {
			continue
		}
		t.Run(filepath.Base(f), func(t *testing.T) {
			SameAsReplay(t, f, Options{})
			SameAsReplay(t, f, Options{NoInfer: true, L1Small: 4096})
		})
	}
	_ = os.Args
}
