package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cbl1/cbl1/replay"
	"github.com/cbl1/cbl1/report"
)

func newRoom(s streams) *cobra.Command {
	var (
		in      = inputs{streams: s}
		sharded coresFlag
		size    roomSizeFlag
		accept  acceptFlag
		out     = newPrinter(s.out, "json")
	)
	cmd := &cobra.Command{
		Use:   "room FILE|FOLDER|- ...",
		Short: "Say how large one more L1 buffer could be",
		Long: "Say how large one more L1 buffer could have been throughout: one address range, above the circular\n" +
			"buffers of every program run and free of every buffer that lived at any time, while nothing else moves.\n" +
			"An interleaved buffer is on all cores of the grid; --sharded CORES asks about one on these alone. Sizes\n" +
			"are those of each core. It names who limits the room, and when, also by groups of cores.\n\n" +
			"With --size BYTES the exit code is 0 if a buffer of that size fits, 1 if it does not, and it says where and\n" +
			"when it does not and where it would. It is 3 if nobody can tell, because something is hidden; --accept\n" +
			"as in check. Of several inputs the worst counts: 2 if one cannot be read, then 1, then 3.\n\n" +
			"--size \"1MiB interleaved\" asks about a whole tensor on the grid, in pages of 2,048 bytes if it names no\n" +
			"others: \"1MiB interleaved 4KiB pages\".",
		Example: "  cbl1 room run.json\n  cbl1 room run.json --size 512KiB --sharded '[0-0 - 7-3]'",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := in.start(args); err != nil {
				return err
			}
			if size.tensor.Bytes > 0 && !sharded.cores.IsEmpty() {
				return errors.New("an interleaved tensor lies on all cores of the grid: --sharded goes with a --size of each core")
			}
			in.replay.OnePeak = true // no peak is shown
			in.replay.Room = &replay.RoomQuestion{Cores: sharded.cores, Size: uint64(size.each), Tensor: size.tensor}
			all := verdicts{printer: out}
			return all.end(in.each(args, func(r *replay.Result) error {
				for _, d := range r.Rooms.Devices {
					if core, ok := d.Outside.First(); ok {
						in.refuse(fmt.Errorf("%s: core %v (--sharded) lies outside the grid of device %d", r.File, core, d.Device.V))
						return nil
					}
				}
				doc := r.Room(accept)
				return all.print(report.Room(r, doc), doc.Answer)
			}))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&size, "size", "bytes of each core of the buffer that is asked about, or a tensor, like \"1MiB interleaved\": does it fit?")
	flags.Var(&sharded, "sharded", "cores of the buffer instead of the whole grid, like 3-0, [0-0 - 7-3] or {[0-0 - 7-3], [0-4 - 3-4]}")
	flags.Var(&accept, "accept", "codes of what is hidden (docs/codes.md) and taken as seen: the answer is about the rest")
	out.add(flags)
	in.add(flags)
	return cmd
}
