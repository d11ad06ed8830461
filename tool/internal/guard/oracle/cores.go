package oracle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cbl1/cbl1/l1"
)

type core struct{ x, y int }

func (c core) l1() l1.Core { return l1.Core{X: uint8(c.x), Y: uint8(c.y)} }

// rect is a core range; both corners belong to it.
type rect struct{ from, to core }

func (r rect) cores() []core {
	var cs []core
	for y := r.from.y; y <= r.to.y; y++ {
		for x := r.from.x; x <= r.to.x; x++ {
			cs = append(cs, core{x, y})
		}
	}
	return cs
}

const maxCoordinate = 255

// parseCores reads "{[0-0 - 7-7], [0-8 - 3-8]}" and "{[(x=0,y=0) - (x=7,y=7)]}".
func parseCores(text string) ([]rect, error) {
	bad := func(why string) error { return fmt.Errorf("oracle: core range set %q: %s", text, why) }
	s := strings.ReplaceAll(text, " ", "")
	// Turn the old spelling of a core into the new one, then there is only one to read.
	s = strings.NewReplacer("(x=", "", ",y=", "-", ")", "").Replace(s)
	if s == "{}" {
		return nil, nil
	}
	s, ok1 := strings.CutPrefix(s, "{[")
	s, ok2 := strings.CutSuffix(s, "]}")
	if !ok1 || !ok2 {
		return nil, bad("braces")
	}
	var rects []rect
	for part := range strings.SplitSeq(s, "],[") {
		fields := strings.Split(part, "-")
		if len(fields) != 4 {
			return nil, bad("a range needs four numbers")
		}
		var n [4]int
		for i, f := range fields {
			v, err := strconv.ParseUint(f, 10, 32)
			if err != nil || v > maxCoordinate {
				return nil, bad("coordinate " + strconv.Quote(f))
			}
			n[i] = int(v)
		}
		r := rect{core{n[0], n[1]}, core{n[2], n[3]}}
		if r.from.x > r.to.x || r.from.y > r.to.y {
			return nil, bad("reversed rectangle")
		}
		rects = append(rects, r)
	}
	return rects, nil
}

// readCores reads a set in any spelling: text that parseCores reads, a JSON list of rectangles, or text that holds such a list.
func readCores(raw json.RawMessage) (rects []rect, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if !strings.HasPrefix(strings.TrimSpace(text), "[") {
			return parseCores(text)
		}
		raw = json.RawMessage(text)
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, one := range list {
		var start, end map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(one["start"], &start), json.Unmarshal(one["end"], &end)); err != nil {
			return nil, err
		}
		var n [4]int
		for i, at := range []json.RawMessage{start["x"], start["y"], end["x"], end["y"]} {
			v, err := number(at)
			if err != nil || v > maxCoordinate {
				return nil, fmt.Errorf("oracle: coordinate %q", at)
			}
			n[i] = int(v)
		}
		r := rect{core{n[0], n[1]}, core{n[2], n[3]}}
		if r.from.x > r.to.x || r.from.y > r.to.y {
			return nil, fmt.Errorf("oracle: reversed rectangle %v", r)
		}
		rects = append(rects, r)
	}
	return rects, nil
}

// distinct lists the cores of a set, each once however many rectangles cover it.
func distinct(rects []rect) []core {
	seen := map[core]bool{}
	var cs []core
	for _, r := range rects {
		for _, c := range r.cores() {
			if !seen[c] {
				seen[c] = true
				cs = append(cs, c)
			}
		}
	}
	return cs
}

// compareCores orders by x, then y.
func compareCores(a, b core) int { return cmp.Or(a.x-b.x, a.y-b.y) }
