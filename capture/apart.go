package capture

import "slices"

// apart returns the ids with L1 buffers that no check looked at, in their order. A
// buffer is looked at by what runs under its id, or on a chip of its mesh. A chip that
// runs nothing is no reason to doubt, an id that may be a mesh is, and so is a chip
// whose mesh runs under the id of the mesh.
func (p *replayer) apart() (ids []uint64) {
	all := p.memory.sorted()
	if !slices.ContainsFunc(all, func(d *l1Device) bool { return d.ran }) {
		return nil
	}
	for _, d := range all {
		if !d.id.OK || !d.own || d.ran || len(p.know.chips[d.id.V]) > 0 {
			continue
		}
		onMesh := slices.ContainsFunc(p.meshesOf(d.id), func(m *l1Device) bool { return m.ran && m.id.OK })
		if !p.know.isChip[d.id.V] || onMesh {
			ids = append(ids, d.id.V)
		}
	}
	return ids
}
