package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cbl1/cbl1/tool/internal/live/serve"
	"github.com/cbl1/cbl1/tool/internal/live/shm"
	"github.com/cbl1/cbl1/tool/internal/live/watch"
	"github.com/cbl1/cbl1/tool/internal/live/wire"
)

// publishEvery is how often regions are brought up to date.
const publishEvery = 100 * time.Millisecond

// publishing holds the options of a server's shared memory. The zero value publishes nothing.
type publishing struct {
	chips   publishFlag
	version string
	folder  string
}

func (in *publishing) options() []option {
	in.folder = shm.Folder
	return []option{
		{"publish", "put figures into shared memory, where other tools look for a chip, like 0=1234 or, of a fleet " +
			"with a name, FLEET/0=1234; may be given again", parsed("device=chip", in.chips.Set)},
		{"publish-version", "layout of shared memory: 3 or 4", choice(&in.version, "3", "4")},
		{"publish-folder", "where regions of shared memory are", &in.folder},
	}
}

// A published is a region at hand.
type published struct {
	publishedChip
	version uint32
	region  *shm.Region
	to      *shm.Publisher
	last    shm.Counters
}

func (p *published) close() error { return errors.Join(p.to.Close(), p.region.Close()) }

// start publishes devices that are declared until stop is called. Other processes keep their
// regions: the error says who holds one.
func (in *publishing) start(server *serve.Server, declared []wire.DeclaredDevice, errw io.Writer) (stop func(), err error) {
	var all []*published
	end := func() {
		for _, p := range all {
			if err := p.close(); err != nil {
				fmt.Fprintf(errw, "cbl1: shared memory of device %s: %v\n", p.name(), err)
			}
		}
	}
	for _, chip := range in.chips {
		p, err := in.attach(chip, declared)
		if err != nil {
			end()
			return nil, fmt.Errorf("shared memory of device %s: %w", chip.name(), err)
		}
		all = append(all, p)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.Tick(publishEvery)
		for len(all) > 0 {
			all = slices.DeleteFunc(all, func(p *published) bool { return !p.put(server, errw) })
			select {
			case <-done:
				return
			case <-tick:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		end()
	}, nil
}

func (in *publishing) attach(chip publishedChip, declared []wire.DeclaredDevice) (*published, error) {
	known := func(d wire.DeclaredDevice) bool { return d.ID == chip.device && d.Chips == nil }
	if chip.fleet == "" && !slices.ContainsFunc(declared, known) {
		return nil, errors.New("--devices does not describe it")
	}
	region, err := shm.Create(in.folder, chip.asic)
	if err != nil {
		return nil, err
	}
	version, _ := strconv.ParseUint(in.version, 10, 32) // one of two
	to, err := shm.Attach(region, shm.Claim{
		Version: uint32(version), ASIC: chip.asic, Device: uint32(chip.device), PID: int32(os.Getpid()), Name: "cbl1",
		Alive: shm.Alive, Now: time.Now, Wait: func() { time.Sleep(time.Millisecond) },
	})
	if err != nil {
		return nil, errors.Join(err, region.Close())
	}
	return &published{publishedChip: chip, version: uint32(version), region: region, to: to}, nil
}

// put brings a region up to date, and reports whether it is still there.
func (p *published) put(server *serve.Server, errw io.Writer) bool {
	row, _ := server.Row(p.fleet, uint64(p.device)) // zero until a client names the device
	now := watch.UsageOf(&row, p.version)
	if now == p.last {
		return true
	}
	p.last = now
	err := p.to.Put(now)
	if err == nil {
		return true
	}
	fmt.Fprintf(errw, "cbl1: shared memory of device %s: %v; it is not published any more\n", p.name(), err)
	_ = p.close() // it is lost
	return false
}

// publishFlag is which devices are published, and as which chips.
type publishFlag []publishedChip

type publishedChip struct {
	fleet  string // "": a device that --devices declares
	device int32
	asic   uint64
}

// name is how the device is called on the command line.
func (c publishedChip) name() string {
	if c.fleet == "" {
		return fmt.Sprint(c.device)
	}
	return fmt.Sprintf("%s/%d", c.fleet, c.device)
}

func (f *publishFlag) Set(s string) error {
	added := slices.Clone(*f)
	for text := range strings.SplitSeq(s, ",") {
		// The name of a fleet may have either sign.
		equals := max(0, strings.LastIndex(text, "="))
		slash := strings.LastIndex(text[:equals], "/")
		ids, err := deviceIDs(text[slash+1 : equals])
		asic, err2 := strconv.ParseUint(text[min(equals+1, len(text)):], 10, 64) // some have all 64 bits
		if err != nil || err2 != nil || len(ids) != 1 || slash == 0 {
			return errors.New("want a device and the number of its chip, like 0=1234 or FLEET/0=1234")
		}
		c := publishedChip{text[:max(0, slash)], ids[0], asic}
		if slices.ContainsFunc(added, func(o publishedChip) bool { return o.name() == c.name() || o.asic == c.asic }) {
			return fmt.Errorf("device or chip of %s comes twice", text)
		}
		added = append(added, c)
	}
	*f = added
	return nil
}
