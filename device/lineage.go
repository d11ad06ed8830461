package device

// A lineage is a registration and those that took its place, one after the other. All of
// them share it, so that the last one is one step away from each, and those between are
// kept by nobody.
type lineage struct{ last *registration }

// succeed notes that r took the place of old.
func (r *registration) succeed(old *registration) {
	if old.heirs == nil {
		old.heirs = new(lineage)
	}
	r.heirs = old.heirs
	r.heirs.last = r
}

// latest returns the registration that took the place of r, r itself if none did.
func (r *registration) latest() *registration {
	if r.heirs == nil {
		return r
	}
	return r.heirs.last
}
