package l1

import "fmt"

// ParseCore reads a core in either spelling, "7-7" or "(x=7,y=7)". Errors are
// *ParseError.
func ParseCore(text string) (Core, error) {
	p := coreParser{what: "core", text: text}
	c, err := p.core()
	return c, p.finish(err)
}

// ParseCoreRange reads a rectangle in either spelling, "[0-0 - 7-7]" or
// "[(x=0,y=0) - (x=7,y=7)]". Errors are *ParseError; a reversed rectangle is one.
func ParseCoreRange(text string) (CoreRange, error) {
	p := coreParser{what: "core range", text: text}
	r, err := p.coreRange()
	return r, p.finish(err)
}

// ParseCoreRangeSet reads a set in either spelling, "{[0-0 - 7-7], [0-8 - 3-8]}"
// or "{[(x=0,y=0) - (x=7,y=7)]}"; "{}" is the empty set. Runs of white space
// count as one blank or none. Errors are *ParseError.
func ParseCoreRangeSet(text string) (CoreRangeSet, error) {
	p := coreParser{what: "core range set", text: text}
	s, err := p.coreRangeSet()
	if err = p.finish(err); err != nil {
		return CoreRangeSet{}, err
	}
	return s, nil
}

// MustParseCoreRangeSet is ParseCoreRangeSet for constant texts in tests and
// examples: it panics if the text cannot be read.
func MustParseCoreRangeSet(text string) CoreRangeSet {
	s, err := ParseCoreRangeSet(text)
	if err != nil {
		panic(err)
	}
	return s
}

// coreParser reads core texts from left to right.
type coreParser struct {
	what string
	text string
	pos  int
}

func (p *coreParser) fail(format string, args ...any) error {
	return &ParseError{What: p.what, Text: p.text, Pos: p.pos, Reason: fmt.Sprintf(format, args...)}
}

func (p *coreParser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// next reports whether the next character after white space is c, and takes it.
func (p *coreParser) next(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *coreParser) expect(c byte) error {
	if !p.next(c) {
		return p.fail("%q expected", c)
	}
	return nil
}

// finish turns success into an error if text is left over.
func (p *coreParser) finish(err error) error {
	if err != nil {
		return err
	}
	if p.space(); p.pos < len(p.text) {
		return p.fail("text after the end")
	}
	return nil
}

func (p *coreParser) coordinate() (uint8, error) {
	p.space()
	start, n := p.pos, 0
	for p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '9' {
		if n = n*10 + int(p.text[p.pos]-'0'); n > 255 {
			p.pos = start
			return 0, p.fail("coordinate above 255")
		}
		p.pos++
	}
	if p.pos == start {
		return 0, p.fail("coordinate expected")
	}
	return uint8(n), nil
}

func (p *coreParser) core() (c Core, err error) {
	if !p.next('(') {
		if c.X, err = p.coordinate(); err != nil {
			return c, err
		}
		if err = p.expect('-'); err != nil {
			return c, err
		}
		c.Y, err = p.coordinate()
		return c, err
	}
	for _, step := range []struct {
		name, end byte
		into      *uint8
	}{{'x', ',', &c.X}, {'y', ')', &c.Y}} {
		if err = p.expect(step.name); err != nil {
			return c, err
		}
		if err = p.expect('='); err != nil {
			return c, err
		}
		if *step.into, err = p.coordinate(); err != nil {
			return c, err
		}
		if err = p.expect(step.end); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (p *coreParser) coreRange() (r CoreRange, err error) {
	p.space()
	start := p.pos
	if err = p.expect('['); err != nil {
		return r, err
	}
	if r.Start, err = p.core(); err != nil {
		return r, err
	}
	if err = p.expect('-'); err != nil {
		return r, err
	}
	if r.End, err = p.core(); err != nil {
		return r, err
	}
	if err = p.expect(']'); err != nil {
		return r, err
	}
	if r.Check() != nil {
		p.pos = start
		return r, p.fail("start lies beyond end")
	}
	return r, nil
}

func (p *coreParser) coreRangeSet() (s CoreRangeSet, err error) {
	if err = p.expect('{'); err != nil {
		return s, err
	}
	if p.next('}') {
		return s, nil
	}
	for {
		r, err := p.coreRange()
		if err != nil {
			return s, err
		}
		s.ranges = append(s.ranges, r)
		if p.next('}') {
			return s, nil
		}
		if err := p.expect(','); err != nil {
			return s, p.fail(`"," or "}" expected`)
		}
	}
}
