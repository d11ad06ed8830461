package fuzz_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cbl1/cbl1/fit"
	"github.com/cbl1/cbl1/fuzz/gen"
	"github.com/cbl1/cbl1/fuzz/model"
	"github.com/cbl1/cbl1/internal/guard/testkit"
	"github.com/cbl1/cbl1/l1"
	"github.com/cbl1/cbl1/program"
)

// A scene is a program beside buffers on some devices.
type scene struct {
	program *program.Program
	small   []uint64 // L1_SMALL of each device
	buffers [][]model.Buffer
	spec    l1.Spec
	hybrid  bool
}

var (
	sayLess  = regexp.MustCompile(`^take ([\d,]+) bytes off CB (\d+), which has ([\d,]+)$`)
	sayFree  = regexp.MustCompile(`^free or move (.+?)( \(\+\d+ more\))?$`)
	saySmall = regexp.MustCompile(`^lower L1_SMALL from ([\d,]+) to (?:at most )?([\d,]+), which moves every L1 buffer up$`)
	sayOwn   = regexp.MustCompile(`^(.+) is its own input or output: smaller blocks, output to DRAM or ttnn.reallocate \(([\d,]+) bytes are free elsewhere\)$`)
	sayNone  = regexp.MustCompile(`^([\d,]+) bytes are too many, and no single buffer of the program was found to be enough`)
)

// fits queries the model.
func (s *scene) fits(t require.TestingT) bool {
	f := model.NewFleet()
	var ids []uint64
	for d := range s.buffers {
		spec := s.spec
		spec.L1Small = s.small[d]
		ids = append(ids, uint64(d))
		require.NoError(t, f.AddDevice(uint64(d), spec))
		for _, b := range s.buffers[d] {
			require.NoError(t, f.Allocate(b, []uint64{uint64(d)}))
		}
	}
	_, err := f.SetHybrid(ids, s.hybrid)
	require.NoError(t, err)
	v, err := f.Check(s.program, ids)
	require.NoError(t, err)
	return v.Fits()
}

// places returns the places for the product.
func (s *scene) places() (out []fit.Place) {
	for d := range s.buffers {
		at := fit.Place{Device: fit.DeviceID(d), Spec: s.spec, Hybrid: s.hybrid}
		at.Spec.L1Small = s.small[d]
		for _, b := range s.buffers[d] {
			own := fit.Buffer{ID: fit.BufferID(b.ID), Kind: fitKind(b.Kind), Mode: modes()[b.Mode]}
			for _, p := range b.Parts {
				own.Parts = append(own.Parts, fit.Part{Cores: p.Cores.Cores(), Range: p.Range})
			}
			at.Buffers = append(at.Buffers, own.Plain())
		}
		out = append(out, at)
	}
	return out
}

func fitKind(kind model.Kind) fit.Kind {
	for k := fit.KindCB; k <= fit.KindSystem; k++ {
		if model.Kind(k.String()) == kind {
			return k
		}
	}
	return 0
}

// sceneOf draws a program of some CBs whose sizes are whole pages, and buffers above them.
func sceneOf(t *rapid.T) *scene {
	s := &scene{
		spec: l1.Spec{
			Cols: 3, Rows: 2, L1Size: 512, CBBase: 32,
			CBAlign: rapid.SampledFrom([]uint64{1, 8, 32}).Draw(t, "cb align"), L1Align: rapid.SampledFrom([]uint64{1, 16}).Draw(t, "l1 align"),
		},
		hybrid: rapid.Bool().Draw(t, "hybrid"),
	}
	b := program.NewBuilder(1)
	if rapid.Bool().Draw(t, "as written") {
		b.AsWritten()
	}
	what := []program.Kind{program.CircularBuffer}
	if rapid.IntRange(0, 3).Draw(t, "newer") == 3 {
		what = []program.Kind{program.DataflowBuffer, program.Scratchpad}
	}
	for range rapid.IntRange(1, 5).Draw(t, "cbs") {
		page := rapid.SampledFrom([]uint64{0, 16, 24}).Draw(t, "page")
		b.CB(program.CB{
			Kind:  rapid.SampledFrom(what).Draw(t, "what"),
			Cores: gen.CoreRangeSet(3, 2).Draw(t, "cores"), Size: max(page, 8) * rapid.Uint64Range(1, 12).Draw(t, "pages"),
			Indices: []program.Index{{PageSize: page}},
		})
	}
	kinds := []model.Kind{model.L1, model.L1, model.L1, model.GlobalCB, model.L1Small, model.Service}
	for range rapid.IntRange(1, 2).Draw(t, "devices") {
		s.small = append(s.small, 128)
		var own []model.Buffer
		for id := range rapid.Uint64Range(0, 4).Draw(t, "buffers") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			start := 16 * rapid.Uint64Range(6, 22).Draw(t, "start")
			if kind == model.L1Small {
				start = 16 * rapid.Uint64Range(24, 30).Draw(t, "start in L1_SMALL")
			}
			at := l1.Range{Start: start, End: start + 16*rapid.Uint64Range(1, 2).Draw(t, "size")}
			mode := model.Lockstep
			if kind == model.L1 {
				mode = rapid.SampledFrom([]model.Mode{model.Lockstep, model.Lockstep, model.PerCore, model.RangeLockstep}).Draw(t, "mode")
			}
			own = append(own, model.Buffer{ID: id, Kind: kind, Mode: mode, Parts: []model.Part{{Cores: gen.CoreRangeSet(3, 2).Draw(t, "on"), Range: at}}})
		}
		s.buffers = append(s.buffers, own)
	}
	if all := slices.Concat(s.buffers...); len(all) > 0 && rapid.Bool().Draw(t, "global") {
		home := rapid.SampledFrom(all).Draw(t, "home").Parts[0]
		b.CB(program.CB{Kind: what[0], Cores: home.Cores, Size: 8, Global: true, Fixed: true, Address: home.Range.Start, Indices: []program.Index{{}}})
	}
	p, err := b.Build(s.spec)
	require.NoError(t, err)
	s.program = p
	return s
}

// recorded is a program with given addresses, like a program of a capture.
func recorded(t require.TestingT, p *program.Program) *program.Program {
	b := program.NewBuilder(p.ID())
	if p.AsWritten() {
		b.AsWritten()
	}
	for _, cb := range p.CBs() {
		given := cb.CB
		given.Fixed = true
		b.CB(given)
	}
	out, err := b.Build(p.Spec())
	require.NoError(t, err)
	return out
}

// shrinks returns the scene with bytes off one CB, placed anew.
func (s *scene) shrinks(t require.TestingT, cb int, to uint64) *scene {
	out := *s
	var err error
	out.program, err = s.program.Resize(cb, to)
	require.NoError(t, err)
	return &out
}

// curable reports whether whole pages off one CB are enough. At least one page stays.
func (s *scene) curable(t require.TestingT) bool {
	for i, cb := range s.program.CBs() {
		page := max(cb.Indices[0].PageSize, 1)
		if cb.Global {
			page = cb.Size // it takes no bytes
		}
		for to := page; to < cb.Size; to += page {
			if s.shrinks(t, i, to).fits(t) {
				return true
			}
		}
	}
	return false
}

func number(t require.TestingT, text string) uint64 {
	n, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
	require.NoError(t, err)
	return n
}

// follow applies one piece of an advice, and returns the result; nil if the advice is that nothing
// helps.
func (s *scene) follow(t require.TestingT, advice string) *scene {
	out := *s
	out.buffers = slices.Clone(s.buffers)
	if said := sayLess.FindStringSubmatch(advice); said != nil {
		cb, size, off := int(number(t, said[2])), number(t, said[3]), number(t, said[1])
		require.Less(t, off, size, "some of the buffer stays")
		for i, placed := range s.program.CBs() {
			if i == cb {
				require.Equal(t, placed.Size, size)
				require.Zero(t, off%max(placed.Indices[0].PageSize, 1), "whole pages")
			}
		}
		return s.shrinks(t, cb, size-off)
	}
	if said := sayFree.FindStringSubmatch(advice); said != nil {
		for d := range out.buffers {
			out.buffers[d] = slices.DeleteFunc(slices.Clone(out.buffers[d]), func(b model.Buffer) bool {
				named := slices.Contains(strings.Split(said[1], " and "), nameOf(b))
				require.False(t, named && s.operand(nameOf(b)), "%s is an operand", said[1])
				return named || said[2] != "" && !s.operand(nameOf(b))
			})
		}
		return &out
	}
	if said := saySmall.FindStringSubmatch(advice); said != nil {
		from, to := number(t, said[1]), number(t, said[2])
		require.Zero(t, to%s.spec.CBAlign, "tt-metal rounds it up")
		out.small = slices.Clone(s.small)
		for d := range out.small {
			require.Equal(t, from, out.small[d])
			out.small[d] = to
			out.buffers[d] = raised(t, out.buffers[d], (from-to)/s.spec.L1Align*s.spec.L1Align, s.spec.L1Size-to)
		}
		return &out
	}
	if said := sayOwn.FindStringSubmatch(advice); said != nil {
		require.True(t, s.operand(said[1]), advice)
		return nil
	}
	require.Regexp(t, sayNone, advice)
	return nil
}

func nameOf(b model.Buffer) string { return fmt.Sprintf("%v %d", fitKind(b.Kind), b.ID) }

// operand reports whether a buffer of a name is an operand of the program, on any device.
func (s *scene) operand(name string) bool {
	return slices.ContainsFunc(slices.Concat(s.buffers...), func(b model.Buffer) bool { return nameOf(b) == name && b.OperandOf(s.program) })
}

// raised moves tensors up, and expects L1_SMALL to keep what lives there.
func raised(t require.TestingT, all []model.Buffer, by, end uint64) (out []model.Buffer) {
	for _, b := range all {
		at := b.Parts[0].Range
		switch b.Kind {
		case model.L1Small:
			if b.Parts[0].Cores.Len() == 0 {
				continue
			}
			require.GreaterOrEqual(t, at.Start, end, "%v has no room", b)
		case model.L1, model.GlobalCB:
			at.Start, at.End = at.Start+by, at.End+by
			require.LessOrEqual(t, at.End, end, "%v reaches into L1_SMALL", b)
		}
		b.Parts = []model.Part{{Cores: b.Parts[0].Cores, Range: at}}
		out = append(out, b)
	}
	return out
}

// Each cure that an advice names is enough by itself, as the model sees it. Where bytes off
// one CB are enough, 95 of 100 advices say so.
func TestAdviceIsFollowed(t *testing.T) {
	refused, curable, told := 0, 0, 0
	property := func(t *rapid.T) {
		s := sceneOf(t)
		asked := s.program
		if rapid.Bool().Draw(t, "recorded") {
			asked = recorded(t, s.program)
		}
		v := fit.Check(asked, s.places()...)
		require.Equal(t, s.fits(t), v.Fits())
		if v.Fits() || v.CannotTell() {
			return
		}
		less := false
		for cure := range strings.SplitSeq(strings.ReplaceAll(v.Advice(), ", or ttnn", " or ttnn"), ", or ") {
			if after := s.follow(t, cure); after != nil {
				require.True(t, after.fits(t), "%q does not help", cure)
			}
			less = less || sayLess.MatchString(cure)
		}
		refused++
		if less || s.curable(t) {
			curable++
			if less {
				told++
			}
		}
	}
	rapid.Check(t, property)
	refused, curable, told = 0, 0, 0 // luck had a part in them
	defer testkit.SameDraws(1, 100)()
	rapid.Check(t, property)
	t.Logf("%d refused, %d with a buffer that can be made small enough, %d of them told", refused, curable, told)
	require.Positive(t, told)
	require.LessOrEqual(t, curable-told, max(3, curable/20), "one in twenty, where there are many")
}
