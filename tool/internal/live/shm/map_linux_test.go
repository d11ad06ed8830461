package shm_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cbl1/cbl1/tool/internal/live/shm"
)

const asic = 0x7700000000000000

func ourTerms(version uint32) shm.Claim {
	return shm.Claim{
		Version: version, ASIC: asic, Device: 1, PID: int32(os.Getpid()), Name: "child", Alive: shm.Alive, Now: time.Now,
		Wait: func() { time.Sleep(time.Millisecond) },
	}
}

// TestMain is also the other process: it attaches to the region of a folder and does what
// its lines say, with an answer for each.
func TestMain(m *testing.M) {
	if folder := os.Getenv("SHM_CHILD"); folder != "" {
		child(folder)
		return
	}
	os.Exit(m.Run())
}

func child(folder string) {
	in := bufio.NewScanner(os.Stdin)
	var r *shm.Region
	var p *shm.Publisher
	for in.Scan() {
		var err error
		var n uint64
		switch word, rest, _ := strings.Cut(in.Text(), " "); word {
		case "attach":
			_, _ = fmt.Sscan(rest, &n)
			if r, err = shm.Create(folder, asic); err == nil {
				p, err = shm.Attach(r, ourTerms(uint32(n)))
			}
		case "put":
			_, _ = fmt.Sscan(rest, &n)
			err = p.Put(shm.Counters{CB: n})
		case "close":
			err = errors.Join(p.Close(), r.Close())
		case "read":
			if r == nil {
				r, err = shm.Open(filepath.Join(folder, shm.Name(asic)))
			}
			if err == nil {
				_, err = r.Read()
			}
		}
		fmt.Println("answer", err)
	}
}

// A process is another one.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, folder string) *process {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "SHM_CHILD="+folder)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	p := &process{t, cmd, in, bufio.NewReader(out)}
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// do says a line and returns the answer.
func (p *process) do(line string) string {
	p.say(line)
	return p.answer()
}

func (p *process) say(line string) {
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

func (p *process) answer() string {
	text, err := p.out.ReadString('\n')
	require.NoError(p.t, err, "the other process has died")
	return strings.TrimSpace(strings.TrimPrefix(text, "answer "))
}

func read(t *testing.T, folder string) shm.Image {
	r, err := shm.Open(filepath.Join(folder, shm.Name(asic)))
	require.NoError(t, err)
	im, err := r.Read()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = r.Read()
	require.ErrorIs(t, err, shm.ErrFault, "it is closed")
	return im
}

// A process reads the figures that another one puts; the figures of a killed one stay until the
// next one comes.
func TestTwoProcesses(t *testing.T) {
	for _, version := range []uint32{3, 4} {
		folder := t.TempDir()
		other := start(t, folder)
		require.Equal(t, "<nil>", other.do(fmt.Sprintf("attach %d", version)))
		require.Equal(t, "<nil>", other.do("put 67108864"))
		im := read(t, folder)
		require.Equal(t, version, im.Version)
		require.EqualValues(t, 64<<20, im.Totals.CB)
		require.EqualValues(t, other.cmd.Process.Pid, im.Processes[0].PID)
		info, err := os.Stat(filepath.Join(folder, shm.Name(asic)))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())

		r, err := shm.Create(folder, asic)
		require.NoError(t, err)
		_, err = shm.Attach(r, ourTerms(4))
		held, ok := errors.AsType[*shm.HeldError](err)
		require.True(t, ok, "%v", err)
		require.EqualValues(t, other.cmd.Process.Pid, held.PID)
		require.Equal(t, im, read(t, folder))

		other.kill()
		require.Equal(t, im, read(t, folder), "nobody has come")
		require.False(t, shm.Alive(int32(other.cmd.Process.Pid)))
		p, err := shm.Attach(r, ourTerms(4))
		require.NoError(t, err)
		require.Zero(t, read(t, folder).Totals)
		require.NoError(t, p.Close())
		require.NoError(t, r.Close())
	}
}

// If several processes come at once, at most one holds the region, and counts are right in any
// case, also where one was killed.
func TestAttachAtOnce(t *testing.T) {
	folder := t.TempDir()
	const processes = 4
	var all []*process
	for range processes {
		all = append(all, start(t, folder))
	}
	for round := range 12 {
		for _, p := range all {
			p.say("attach 4")
		}
		var holders []*process
		for _, p := range all {
			if p.answer() == "<nil>" {
				holders = append(holders, p)
			}
		}
		require.LessOrEqual(t, len(holders), 1)
		im := read(t, folder)
		require.EqualValues(t, len(holders), im.References, "round %d", round)
		require.EqualValues(t, len(holders), im.Active)
		for _, p := range holders {
			require.Equal(t, "<nil>", p.do("put 4096"))
			require.EqualValues(t, 4096, read(t, folder).Totals.CB)
			if round%3 == 2 {
				for _, other := range all {
					other.kill()
				}
				all = all[:0]
				for range processes {
					all = append(all, start(t, folder))
				}
				break
			}
			require.Equal(t, "<nil>", p.do("close"))
		}
	}
}

// A process whose region is cut while it is mapped lives on, and says so.
func TestCutWhileMapped(t *testing.T) {
	for _, size := range []int64{0, 100, 4096, 8192, 8530} {
		folder := t.TempDir()
		writer, reader := start(t, folder), start(t, folder)
		require.Equal(t, "<nil>", writer.do("attach 4"))
		require.Equal(t, "<nil>", writer.do("put 1"))
		require.Equal(t, "<nil>", reader.do("read"))
		path := filepath.Join(folder, shm.Name(asic))
		require.NoError(t, os.Truncate(path, size))
		answer := reader.do("read")
		require.Contains(t, []string{shm.ErrFault.Error(), shm.ErrNotReady.Error()}, answer, "cut to %d", size) // bytes behind the end may read as zeros
		require.Equal(t, shm.ErrFault.Error(), writer.do("put 2"), "cut to %d", size)
		require.NoError(t, os.Truncate(path, shm.Size))
		require.Equal(t, shm.ErrNotReady.Error(), reader.do("read"), "it is there again, and empty where it was cut")
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
		return path
	}
	_, err := shm.Open(write("short", 8535))
	short, ok := errors.AsType[*shm.SizeError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, &shm.SizeError{Size: 8535, Want: 8536}, short)

	im := shm.Image{Version: 3, Serial: 7}
	least := filepath.Join(folder, "least")
	require.NoError(t, os.WriteFile(least, im.Append(nil)[:8536], 0o600))
	r, err := shm.Open(least)
	require.NoError(t, err)
	got, err := r.Read()
	require.NoError(t, err)
	require.Equal(t, im, got)
	require.NoError(t, os.Truncate(least, 8535))
	_, err = r.Read()
	require.ErrorIs(t, err, shm.ErrFault)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close(), "a second time")

	_, err = shm.Open(write("empty", 0))
	require.EqualError(t, err, "map "+filepath.Join(folder, "empty")+": a region of 0 bytes: want 8536")
	missing := filepath.Join(folder, "missing")
	_, err = shm.Open(missing)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = shm.Create(missing, 5)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = shm.List(missing)
	require.ErrorIs(t, err, os.ErrNotExist)
	cut, err := shm.Create(folder, 4)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(folder, shm.Name(4)), 0))
	_, err = shm.Attach(cut, ourTerms(4))
	require.ErrorIs(t, err, shm.ErrFault)
	require.NoError(t, cut.Close())
	require.NoError(t, os.Remove(filepath.Join(folder, shm.Name(4))))

	for _, size := range []int{100, 9280} { // cut, and version 1
		path := write(shm.Name(5), size)
		_, err = shm.Create(folder, 5)
		_, ok = errors.AsType[*shm.SizeError](err)
		require.True(t, ok, "%v", err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.EqualValues(t, size, info.Size(), "not touched")
	}
	write("whole", shm.Size)
	require.NoError(t, os.Symlink("whole", filepath.Join(folder, shm.Name(6))))
	_, err = shm.Create(folder, 6)
	require.Error(t, err)
	_, err = shm.Open(filepath.Join(folder, shm.Name(6)))
	require.Error(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(folder, shm.Name(7)), 0o700))
	_, err = shm.Open(filepath.Join(folder, shm.Name(7)))
	require.ErrorContains(t, err, "is no file")

	write(shm.Name(1<<64-1), 1)
	write("tt_device_007_memory", 1)
	write("tt_device_+7_memory", 1)
	write("tt_device__memory", 1)
	write("tt_device_18446744073709551616_memory", 1)
	write("tt_device_8_memory2", 1)
	found, err := shm.List(folder)
	require.NoError(t, err)
	want := []shm.RegionFile{}
	for _, n := range []uint64{5, 6, 7, 1<<64 - 1} {
		want = append(want, shm.RegionFile{Path: filepath.Join(folder, shm.Name(n)), ASIC: n})
	}
	require.Equal(t, want, found)
}

func TestAlive(t *testing.T) {
	require.True(t, shm.Alive(int32(os.Getpid())))
	require.True(t, shm.Alive(1), "also another user's")
	require.False(t, shm.Alive(0))
	require.False(t, shm.Alive(-1))
}
