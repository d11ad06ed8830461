package version

import (
	"iter"
	"slices"

	"github.com/cbl1/cbl1/device/internal/lookup"
)

// A Step takes one thing off and puts another one on. Either may be nil.
type Step[X any] struct {
	Old, New *X
}

// back returns the step that undoes a step.
func (by Step[X]) back() Step[X] { return Step[X]{by.New, by.Old} }

// A Version is a value, or the way to work it out from another version. The type S embeds it. C is
// the content. Things of type X come and go.
type Version[S, C, X any] struct {
	Self    *S
	Hash    lookup.Hash
	Users   int // devices at this version
	Content *C  // nil if it is worked out on demand

	to      *Version[S, C, X] // the version that it became and leans on; nil = it has its content, and no followers need a way
	by      Step[X]           // the step to it
	kept    bool              // Content is a copy that shortens the way of the versions behind
	leaners int               // versions that lean on this one
	behind  int               // versions in a row behind it that have no content
}

// View returns a content and the steps from this version to it, in their order. v is the
// content with the steps undone, the last one first.
// Cost: O(steps). [Store.Advance] bounds their number.
func (v *Version[S, C, X]) View() (content *C, steps []Step[X]) {
	for ; v.Content == nil; v = v.to {
		steps = append(steps, v.by)
	}
	return v.Content, steps
}

// An Editor copies and changes contents.
type Editor[C, X any] interface {
	// Copy returns a copy. It and the original may be changed.
	Copy(*C) *C
	// Change makes a step, in place unless others read the content, and returns the
	// result.
	Change(*C, Step[X]) *C
	// Name counts one more step that names x, or one less.
	Name(x *X, steps int)
}

// A Store finds versions. No two are equal. The zero Store is empty.
type Store[S, C, X any] struct {
	found lookup.Shelf[Version[S, C, X]]
	swept int // versions that the last sweep left
}

// Put adds a version that leans on nothing.
func (o *Store[S, C, X]) Put(v *Version[S, C, X]) { o.found.Put(v.Hash, v) }

// Len returns the number of versions.
func (o *Store[S, C, X]) Len() int { return o.found.Len() }

// All returns the versions, in any order.
func (o *Store[S, C, X]) All() iter.Seq[*S] {
	return func(yield func(*S) bool) {
		for _, v := range o.found.All() {
			if !yield(v.Self) {
				return
			}
		}
	}
}

// Find returns the version with a hash for which sought returns true, nil if there is
// none.
func (o *Store[S, C, X]) Find(h lookup.Hash, sought func(*S) bool) *S {
	v := o.found.Find(h, func(v *Version[S, C, X]) bool { return sought(v.Self) })
	if v == nil {
		return nil
	}
	return v.Self
}

// Next returns the version with a hash that v becomes by a step, nil if there is
// none. It compares versions with the hash by same. A step that was made before, or
// undoes one, compares nothing.
func (o *Store[S, C, X]) Next(v *Version[S, C, X], h lookup.Hash, by Step[X], same func(*S) bool) *S {
	if v.to != nil && v.by == by {
		return v.to.Self
	}
	to := o.found.Find(h, func(to *Version[S, C, X]) bool {
		return to.to == v && to.by == by.back() || same(to.Self)
	})
	if to == nil {
		return nil
	}
	return to.Self
}

// Advance makes the new version to, which has its hash, from v and a step. The content moves
// to it, and v leans on it. If more than most versions in a row lean there, v
// keeps a copy. With a most of 0 v keeps a copy for its devices alone. Cost: a step,
// and the cost of claim.
func (o *Store[S, C, X]) Advance(r Editor[C, X], v, to *Version[S, C, X], by Step[X], most int) {
	o.claim(r, v)
	o.rise(r, v)
	if v.leaners == 0 {
		v.behind = 0
	}
	to.Content, to.behind = v.Content, v.behind+1
	if to.behind > most {
		to.Content, to.behind, v.kept = r.Copy(v.Content), 1, most > 0
	} else {
		v.Content, v.kept = nil, false
	}
	to.Content = r.Change(to.Content, by)
	lean(r, v, to, by)
	o.Put(to)
}

// Pass gives to a content, if it has none: the content of v after a step. It moves there if all
// devices make the step, and is copied otherwise.
func (o *Store[S, C, X]) Pass(r Editor[C, X], v, to *Version[S, C, X], by Step[X], whole bool) {
	switch {
	case to.Content != nil:
	case whole && v.to == to && !v.kept:
		to.Content, v.Content = r.Change(v.Content, by), nil
	default:
		to.Content = r.Change(r.Copy(v.Content), by)
	}
}

// Become changes v itself by a step. All devices of v make the step together, and no
// version may lean on v: else Become returns false, and v stays. So devices keep
// their pointer to v. Where 32 devices make a step at once, a new version takes 1.3
// times as long.
func (o *Store[S, C, X]) Become(r Editor[C, X], v *Version[S, C, X], h lookup.Hash, by Step[X]) bool {
	o.claim(r, v)
	if v.leaners > 0 {
		return false
	}
	o.rise(r, v)
	o.found.Drop(v.Hash, v)
	v.Content, v.Hash, v.kept, v.behind = r.Change(v.Content, by), h, false, 0
	o.Put(v)
	return true
}

// claim gives v a content. It takes it back from the version that v became if that is
// one step away, so that two versions in turn cost a step each; else it copies it.
func (o *Store[S, C, X]) claim(r Editor[C, X], v *Version[S, C, X]) {
	to, by := v.to, v.by
	switch {
	case v.Content != nil:
	case to.Content == nil || to.to != nil:
		o.Fill(r, v)
	default:
		v.Content, to.Content = r.Change(to.Content, by.back()), nil
		v.behind = to.behind + 1
		lean(r, to, v, by.back())
		o.rise(r, v)
	}
}

// Fill computes a content for v, and for each version with devices between v and the nearest content.
// They lean as before.
// Cost: a step for each version on the way, and a copy for each that gets a content.
func (o *Store[S, C, X]) Fill(r Editor[C, X], v *Version[S, C, X]) {
	var way []*Version[S, C, X]
	at := v
	for ; at.Content == nil; at = at.to {
		way = append(way, at)
	}
	content := at.Content
	for i, at := range slices.Backward(way) {
		if at.to.Content == content { // that version keeps it
			content = r.Copy(content)
		}
		if content = r.Change(content, at.by.back()); i == 0 || at.Users > 0 {
			at.Content = content
		}
	}
}

// lean lets v lean on the version that it became.
func lean[S, C, X any](r Editor[C, X], v, to *Version[S, C, X], by Step[X]) {
	v.to, v.by = to, by
	to.leaners++
	name(r, by, 1)
}

func name[C, X any](r Editor[C, X], by Step[X], steps int) {
	for _, x := range [...]*X{by.Old, by.New} {
		if x != nil {
			r.Name(x, steps)
		}
	}
}

// rise ends the leaning of v. v has a content, or ends.
func (o *Store[S, C, X]) rise(r Editor[C, X], v *Version[S, C, X]) {
	if to, by := v.to, v.by; to != nil {
		v.to, v.by = nil, Step[X]{}
		to.leaners--
		name(r, by, -1)
		o.Leave(r, to)
	}
}

// Leave is called after devices left v. Without devices, v is forgotten if no version
// leans on it, and so on along the versions that it leaned on. A copy that was made
// for its devices moves on with them.
func (o *Store[S, C, X]) Leave(r Editor[C, X], v *Version[S, C, X]) {
	if to := v.to; v.Users == 0 && to != nil && v.Content != nil && !v.kept {
		if to.Content == nil && to.Users > 0 {
			to.Content = r.Change(v.Content, v.by)
		}
		v.Content = nil
	}
	for v != nil && v.Users == 0 && v.leaners == 0 {
		to, by := v.to, v.by
		o.found.Drop(v.Hash, v)
		if v.to = nil; to != nil {
			to.leaners--
			name(r, by, -1)
		}
		v = to
	}
}

// Sweep forgets the versions without devices, if there are too many versions. The limit is 256, plus
// twice the versions after the last sweep, plus twice the things. So a device that never follows
// does not keep a long way. Cost: O(versions), and Fill for each version with devices. The steps since
// the last sweep pay for it.
func (o *Store[S, C, X]) Sweep(r Editor[C, X], things int) {
	if o.found.Len() <= 256+2*(o.swept+things) {
		return
	}
	for _, v := range o.found.All() {
		if v.Users > 0 && v.Content == nil {
			o.Fill(r, v)
		}
	}
	o.Cut(r)
	o.swept = o.found.Len()
}

// Cut forgets the versions without devices. All others have a content, and lean on
// nothing then. Cost: O(versions).
func (o *Store[S, C, X]) Cut(r Editor[C, X]) {
	all := o.found
	o.found = lookup.Shelf[Version[S, C, X]]{}
	for _, v := range all.All() {
		if v.to != nil {
			name(r, v.by, -1)
		}
		v.to, v.by, v.kept, v.leaners, v.behind = nil, Step[X]{}, false, 0, 0
		if v.Users > 0 {
			o.Put(v)
		}
	}
}
