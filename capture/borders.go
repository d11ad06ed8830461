package capture

import (
	"github.com/cbl1/cbl1/device"
	"github.com/cbl1/cbl1/fit"
)

// borders are the ends of operations of a database: what lived across them.
type borders struct {
	leaving     guests             // buffers that are gone when an operation ends, by their end
	ids         map[device.ID]bool // with L1 buffers that lived when an operation of a database ended; nil: it is no database
	began, next uint64             // first nodes of the last operation, and of the next one
}

// cross records a buffer that lived up to the operation that starts at a node, or longer. If an
// operation ended before that, the database has to say that it lived then.
func (b *borders) cross(one *buffer, start uint64) {
	if b.ids != nil && one.said.at < start && (one.said.kind == fit.KindL1 || one.said.kind == fit.KindL1Small) {
		b.ids[one.said.named] = true
	}
}

// end records that the last operation ends with all buffers that still live.
func (b *borders) end(l *buffers) {
	for _, named := range l.live {
		for _, one := range named {
			b.cross(one, b.began)
		}
	}
}
