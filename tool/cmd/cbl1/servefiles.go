package main

// files is how many descriptors this process may have.
type files int

// What a server has open beside clients: standard streams, listeners, the poller, and three logs while one takes
// the place of another. A region of shared memory takes two.
const (
	filesOwn    = 16
	filesRegion = 2
)

// http returns how many connections there may be over HTTP: an eighth of the descriptors. Clients of the
// sockets have the rest.
func (f files) http() int { return min(httpClients, max(2, int(f)/8)) }

// clients returns how many descriptors are left for clients of the sockets, beside so many regions. One client
// can always connect.
func (f files) clients(regions int) int {
	return max(2, int(f)-filesOwn-filesRegion*regions-f.http())
}
