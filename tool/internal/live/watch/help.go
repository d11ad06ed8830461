package watch

// help lists the keys, and explains the words on the screen.
func (m *Model) help(columns int) []Line {
	lines := []Line{
		{Text: "Keys", Look: Head},
		{Text: "  1          all devices, and details of the selected one (>)"},
		{Text: "  2          a chart: how full the selected device was in the last minutes"},
		{Text: "  3          the cores of the selected device, and the addresses on its fullest"},
		{Text: "  j k        select the next device, or the one before (arrows)"},
		{Text: "  space b    go on and back where lines are left out (page down, page up)"},
		{Text: "  ?          this help; once more: back"},
		{Text: "  q          end (escape)"},
		{Text: "The bar is the fullest core of a device, in shares of its usable L1", Look: Head},
		{Text: "  below 75 %", Look: Good},
		{Text: "  from 75 %", Look: Warn},
		{Text: "  from 90 %, or INCOMPLETE", Look: Bad},
		{Text: "Words", Look: Head},
		{Text: "  at most      the source names no cores: each CB counts as if on every core"},
		{Text: "  INCOMPLETE   the source lost a client, or hides something"},
		{Text: "  accounting   a sum of sizes is more than the L1: it counts bytes twice"},
		{Text: "  of NAME      a device of the fleet with that name"},
		{Text: "  registered   of the programs in the cache, whether they run or not"},
		{Text: "  resident     left by the last dispatches; tracked: all in L1 but kernels"},
		{Text: "  headroom     bytes between CBs and buffers, where there are the fewest"},
		{Text: "  ?            the source does not tell"},
	}
	return wrapped(lines, columns)
}
