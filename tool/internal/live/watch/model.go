package watch

import (
	"cmp"
	"github.com/cbl1/cbl1/tool/replay/answer"
	"maps"
	"slices"
	"time"
)

// The limits of a Model: samples of each device, and devices.
const (
	maxSamples = 600
	maxKept    = 256
)

// A View is one of the pictures of a Model.
type View int

// The views, by the keys that show them.
const (
	ViewDevices View = 1
	ViewChart   View = 2
	ViewMap     View = 3
	ViewHelp    View = 4 // the key ?
)

// A DeviceKey is a device of a source: of the named fleet, if it has a name.
type DeviceKey struct {
	Fleet  string
	Device uint64
}

// DeviceKeyOf returns the place of a device.
func DeviceKeyOf(d *answer.LiveDevice) DeviceKey { return DeviceKey{d.Fleet, d.Device} }

// A sample is the fullness of a device at a time, in shares of its usable bytes.
type sample struct {
	time       int64
	cbs, total float64
}

// A Model is the content of a screen: the last Snapshot, and samples of earlier ones. The zero
// Model shows the devices, and has no snapshot yet.
type Model struct {
	ASCII bool // no sign beyond ASCII

	now     Snapshot
	order   []int // devices of now, the fullest first
	samples map[DeviceKey][]sample
	above   map[DeviceKey]int64 // since when sums of a device are accounting
	begun   int64
	view    View
	before  View      // where the help leads back
	at      DeviceKey // the selected device
	chosen  bool      // by a key
	first   int       // line of a picture that is too long
	page    int       // lines of it on the screen
	failure string
}

// Take shows the next Snapshot.
func (m *Model) Take(s Snapshot) {
	if m.begun == 0 {
		m.begun, m.samples, m.above = s.Time, map[DeviceKey][]sample{}, map[DeviceKey]int64{}
	}
	m.now, m.failure = s, ""
	m.order = m.order[:0]
	there := map[DeviceKey]bool{}
	for i := range s.Devices {
		m.order = append(m.order, i)
		d := &s.Devices[i]
		at := DeviceKeyOf(d)
		there[at] = true
		m.sample(d)
		switch {
		case accounting(d) == "":
			delete(m.above, at)
		case m.above[at] == 0:
			m.above[at] = s.Time
		}
	}
	maps.DeleteFunc(m.samples, func(at DeviceKey, _ []sample) bool { return !there[at] })
	maps.DeleteFunc(m.above, func(at DeviceKey, _ int64) bool { return !there[at] })
	slices.SortStableFunc(m.order, func(a, b int) int {
		return cmp.Compare(share(&s.Devices[b]), share(&s.Devices[a]))
	})
	if !m.chosen && len(m.order) > 0 {
		m.at = DeviceKeyOf(&s.Devices[m.order[0]])
	}
}

// Fail records that no Snapshot came, and the reason. The last one stays.
func (m *Model) Fail(why string) { m.failure = why }

// share returns the fullness of a device; 0 if it is unknown.
func share(d *answer.LiveDevice) float64 {
	bytes, of, _ := Fullness(d)
	if of == 0 {
		return 0
	}
	return float64(bytes) / float64(of)
}

func (m *Model) sample(d *answer.LiveDevice) {
	all := m.samples[DeviceKeyOf(d)]
	if all == nil && len(m.samples) == maxKept {
		return
	}
	x := sample{time: m.now.Time, total: share(d)}
	x.cbs = x.total
	if d.Core != nil && d.Usable > 0 {
		x.cbs = float64(*d.Core) / float64(d.Usable)
	}
	if last := len(all) - 1; last >= 0 && all[last].time == x.time {
		all = all[:last] // a key requested another snapshot
	}
	if len(all) == maxSamples {
		all = append(all[:0], all[1:]...)
	}
	m.samples[DeviceKeyOf(d)] = append(all, x)
}

// Selected returns the selected device, and whether its Detail is shown.
func (m *Model) Selected() (at DeviceKey, detail bool) { return m.at, m.view == ViewMap }

// Show chooses a view. One of a single device stays with it. A second ViewHelp leads back.
func (m *Model) Show(v View) {
	if v == ViewHelp && m.view == ViewHelp {
		v = m.before
	}
	m.before = m.view
	m.view, m.first = v, 0
	m.chosen = m.chosen || v == ViewChart || v == ViewMap
}

// Move selects the device that is so many places further down.
func (m *Model) Move(by int) {
	if len(m.order) == 0 {
		return
	}
	i := max(0, m.place()+by)
	m.at, m.chosen, m.first = DeviceKeyOf(&m.now.Devices[m.order[min(i, len(m.order)-1)]]), true, 0
}

// Scroll goes on in a picture that is longer than the screen, by so many screens.
func (m *Model) Scroll(by int) { m.first = max(0, m.first+by*m.page) }

// place returns the index of the selected device.
func (m *Model) place() int {
	return max(0, slices.IndexFunc(m.order, func(i int) bool { return DeviceKeyOf(&m.now.Devices[i]) == m.at }))
}

// looked returns the row of the selected device, nil if there is none.
func (m *Model) looked() *answer.LiveDevice {
	if len(m.order) == 0 {
		return nil
	}
	return &m.now.Devices[m.order[m.place()]]
}

// since is a time that has passed.
func (m *Model) since(from int64) time.Duration {
	return time.Duration(m.now.Time - from).Round(time.Second)
}
