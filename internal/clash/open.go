package clash

// ringNeed returns by how much the base of circular buffers must move up for a program to go
// through the ring, 0 if the message does not say it. Releases refuse a program as large as the
// ring, or larger.
func (m Message) ringNeed() uint64 {
	if m.lacks("size", "limit") || m.Size < m.Limit {
		return 0
	}
	return roundUp(max(m.Size-m.Limit, 1))
}

// smallNeed returns by how much L1_SMALL must grow, 0 if the message does not say it.
func (m Message) smallNeed() uint64 {
	s := m.Shortage
	if !s.HasBank {
		return 0
	}
	if least := s.least(); least > s.Bank {
		return roundUp(least - s.Bank)
	}
	return 0
}

// A Margin says how far sizes of open_device can change before a run of a capture does not fit.
type Margin struct {
	ProgramRun        // with the least room: Capture, Log, Event, T and Op of it
	Free       uint64 `json:"room"`   // between its circular buffers and the lowest L1 buffer above, or L1_SMALL
	Failed     int64  `json:"failed"` // runs that do not fit as it is

	Small     uint64 `json:"l1_small"`      // the size of L1_SMALL; 0 = there is none, or it is not known
	SmallUsed bool   `json:"l1_small_used"` // a buffer lived there
}

// AddMargin adds the margin of a capture. Of several the least counts.
func (c *Comparison) AddMargin(m Margin) {
	for i := range c.matches {
		c.matches[i].takeMargin(&m)
	}
}

func (m *Match) takeMargin(o *Margin) {
	if o == nil || m.Margin != nil && (m.Margin.Failed > 0 || o.Failed == 0 && m.Margin.Free <= o.Free) {
		return
	}
	m.Margin = o
}

// addChange says by how much the parameter that would help can change. Without a margin no run was
// judged that takes any bytes.
func (e *Explanation) addChange(margin *Margin) {
	if !e.Damaged {
		e.tell(e.changes(margin), "change")
	}
}

// changes returns what the words about a change may name.
func (e *Explanation) changes(margin *Margin) teller {
	m, memory := e.Message, ""
	if m.Kind == OutOfMemory {
		memory = m.Shortage.Buffer
	}
	var g Margin
	if margin != nil {
		g = *margin
	}
	ofRing := m.Kind == KernelConfig && (m.What == "TENSIX" || m.What == "")
	parameter, verb, wanted := "l1_small_size", "grow", m.smallNeed()
	if ofRing {
		parameter, verb, wanted = "worker_l1_size", "shrink", m.ringNeed()
	}
	return teller{
		message: m,
		numbers: map[string]uint64{
			"failed": uint64(g.Failed), "gap": g.Free, "small": g.Small, "wanted": wanted, "lack": wanted - min(wanted, g.Free),
		},
		texts: map[string]string{"parameter": parameter, "verb": verb, "capture": captureName(g.ProgramRun), "run": g.text()},
		holds: map[string]bool{
			"margin": margin != nil, "lower": e.lowers(), "small-used": g.SmallUsed, "asks-room": ofRing || memory == "L1_SMALL",
			"asks-trace": m.Kind == TraceRegion || memory == "TRACE", "asks-small": m.Kind == Clash || memory == "L1",
		},
	}
}
