package clash

import (
	"math"
)

// The texts of the messages. Each function reads one form from its first word on
// and reports whether all of it is there.

// message reads whichever message begins at the start of m into msg.
func (m *matcher) message(msg *Message) bool {
	for _, form := range []func(*matcher, *Message) bool{
		(*matcher).static, (*matcher).service, (*matcher).grid, (*matcher).appending, (*matcher).index,
		(*matcher).backing, (*matcher).backingWarning, (*matcher).pageSize, (*matcher).memory,
	} {
		*msg = Message{What: Circular, Count: 1}
		m.i, m.text = 0, m.text[:0]
		if form(m, msg) {
			msg.Text = string(m.text)
			return true
		}
	}
	return false
}

// Statically allocated K buffers [in program P] ...
func (m *matcher) static(msg *Message) bool {
	if !m.lit("Statically allocated ") || !m.what(msg) || !m.lit(" buffers ") {
		return false
	}
	if m.lit("in program ") && (!m.program(msg) || !m.lit(" ")) {
		return false
	}
	switch {
	case m.lit("on core range "):
		// ... on core range R grow to N B which is beyond max L1 size of N B
		msg.Kind = Grow
		return m.coresOf(msg) && m.lit(" grow to ") && m.into(&msg.End) &&
			m.lit(" B which is beyond max L1 size of ") && m.intoLast(&msg.Limit)
	case m.lit("clash with L1 buffers on core range "):
		// ... clash with L1 buffers on core range R. L1 buffer allocated at N and
		// static K buffer region ends at N
		msg.Kind = Clash
		ok := m.coresOf(msg) && m.lit(". L1 buffer allocated at ") && m.into(&msg.Limit) && m.lit(" and static ")
		again := *msg
		if !ok || !m.what(&again) || !m.lit(" buffer region ends at ") {
			return false
		}
		msg.End, ok = m.last()
		return ok
	}
	return false
}

// Circular buffers on service-core range R in program P clash with
// ServiceCoreManager-allocated L1 (lowest service allocation at N, CB region ends at N)
func (m *matcher) service(msg *Message) bool {
	msg.Kind = ServiceClash
	return m.lit("Circular buffers on service-core range ") && m.coresOf(msg) &&
		m.lit(" in program ") && m.program(msg) &&
		m.lit(" clash with ServiceCoreManager-allocated L1 (lowest service allocation at ") && m.into(&msg.Limit) &&
		m.lit(", CB region ends at ") && m.into(&msg.End) && m.lit(")")
}

// Circular buffer core range R in program P exceeds device compute grid (XxY) and
// is not entirely on cores claimed via ServiceCoreManager
func (m *matcher) grid(msg *Message) bool {
	msg.Kind = Grid
	ok := m.lit("Circular buffer core range ") && m.coresOf(msg) &&
		m.lit(" in program ") && m.program(msg) &&
		m.lit(" exceeds device compute grid (") && m.size(&msg.Cols) && m.lit("x") && m.size(&msg.Rows) && m.lit(")")
	if ok {
		m.lit(" and is not entirely on cores claimed via ServiceCoreManager") // or a release without services
	}
	return ok
}

// Local buffer address N has to append to last L1 region [N, N) or be at a higher
// address
func (m *matcher) appending(msg *Message) bool {
	msg.Kind = Append
	return m.lit("Local buffer address ") && m.into(&msg.Address) &&
		m.lit(" has to append to last L1 region [") && m.into(&msg.Region.Start) &&
		m.lit(", ") && m.into(&msg.Region.End) && m.lit(") or be at a higher address") &&
		msg.Region.Check() == nil
}

// Invalid circular buffer index: Cannot add circular buffer at index I, another
// circular buffer already exists
func (m *matcher) index(msg *Message) bool {
	msg.Kind = IndexReuse
	return m.lit("Invalid circular buffer index: Cannot add circular buffer at index ") && m.into(&msg.Index) &&
		m.lit(", another circular buffer already exists")
}

// Cannot set circular buffer size to N. This is larger than the associated
// dynamically allocated L1 buffer bank size of N B
func (m *matcher) backing(msg *Message) bool {
	msg.Kind = BackingBuffer
	return m.lit("Cannot set circular buffer size to ") && m.into(&msg.Size) &&
		m.lit(". This is larger than the associated dynamically allocated L1 buffer bank size of ") && m.intoLast(&msg.Bank)
}

// Circular buffer size N B exceeds allocated L1 buffer bank size of N B
func (m *matcher) backingWarning(msg *Message) bool {
	msg.Kind, msg.Warning = BackingBuffer, true
	return m.lit("Circular buffer size ") && m.into(&msg.Size) &&
		m.lit(" B exceeds allocated L1 buffer bank size of ") && m.intoLast(&msg.Bank)
}

// Total circular buffer size N B must be divisible by page size N B
func (m *matcher) pageSize(msg *Message) bool {
	msg.Kind = PageSize
	return m.lit("Total circular buffer size ") && m.into(&msg.Size) &&
		m.lit(" B must be divisible by page size ") && m.intoLast(&msg.Page)
}

// what reads the kind of buffers.
func (m *matcher) what(msg *Message) bool {
	for _, what := range []string{Circular, Dataflow} {
		if m.lit(what) {
			msg.What = what
			return true
		}
	}
	return false
}

func (m *matcher) program(msg *Message) bool {
	msg.Program, msg.HasProgram = m.number(true, math.MaxUint64)
	return msg.HasProgram
}

func (m *matcher) coresOf(msg *Message) (ok bool) {
	msg.Cores, ok = m.cores()
	return ok
}

func (m *matcher) into(n *uint64) (ok bool) {
	*n, ok = m.bytes()
	return ok
}

func (m *matcher) intoLast(n *uint64) (ok bool) {
	*n, ok = m.lastUnit()
	return ok
}

// size reads a side of a grid.
func (m *matcher) size(n *int) bool {
	const most = 1 << 16 // far above any coordinate
	v, ok := m.number(true, most)
	*n = int(v)
	return ok
}
