package shm

// Decode returns the image of the bytes of a region, as Region.Read does. Tests have bytes, the product
// has regions.
func Decode(b []byte) (Image, error) {
	b = b[:min(len(b), Size)]
	words := make([]uint64, (len(b)+7)/8) // they begin at a multiple of 8
	aligned := bytesOf(words)[:len(b)]
	copy(aligned, b)
	r, err := Over(aligned)
	if err != nil {
		return Image{}, err
	}
	return r.Read()
}
