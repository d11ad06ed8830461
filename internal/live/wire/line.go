package wire

import (
	"math"
	"strconv"
	"strings"
)

// A statement is the content of one line of a server.
type statement struct {
	what   Fate // Refused: the server ignored a record
	typ    Type // of the record that brings what the line is about
	device int32
	pid    int32 // 0: the line names none
	id     uint64
	kind   uint8
	size   amount
	refs   int // afterwards; of a removal how many went
	total  amount

	dead, removed bool // of a process
	lost          bool // a client was closed
	left          bool // lines are not printed
	idle          bool // it repeats other lines
}

// An amount is a number of bytes as a line spells it: bytes is the roundest of least to most,
// which all are spelled alike.
type amount struct{ least, bytes, most uint64 }

func exactly(n uint64) amount { return amount{n, n, n} }

// A template is a line of the server: each % stands for a part that is read.
type template struct {
	text string
	read func(*statement, *parts) bool
}

// parts are the parts of a line at each % of its template.
type parts [6]string

// readLine reads a line of a server, of ours or of the protocol's, and reports whether it is one.
func readLine(text string) (s statement, ok bool) {
	for _, t := range [...]template{
		{"✓ [CB_ALLOC] Device %: +% MB (Total: % MB) [PID %] at most % bytes of a core", (*statement).cbCame},
		{"✓ [CB_ALLOC] Device %: +% MB (Total: % MB)", (*statement).cbCame},
		{"✗ [CB_FREE] Device %: -% MB (Total: % MB) [PID %] at most % bytes of a core", (*statement).cbGone},
		{"✗ [CB_FREE] Device %: -% MB (Total: % MB)", (*statement).cbGone},
		{"✓ [KERNEL_LOAD] % kernel on Device %: +% MB (Total: % MB)", (*statement).kernelCame},
		{"✗ [KERNEL_UNLOAD] % kernel on Device %: -% MB (Total: % MB)", (*statement).kernelGone},
		{"✓ [PID %] Allocated % bytes of % on device % (buffer_id=%, ref_count=%)", (*statement).bufferCame},
		{"✓ [PID %] Allocated % bytes of % on device % (buffer_id=%)", (*statement).bufferCame},
		{"✗ [PID %] Freed buffer % on device % (% bytes, ref_count=% remaining)", (*statement).bufferLeft},
		{"✗ [PID %] Freed buffer % on device % (% bytes, FINAL)", (*statement).bufferLeft},
		{"⚠ [PID %] Deallocation for unknown buffer % on device % (allocated before tracking started)", (*statement).bufferUnknown},
		{"⚠ [%] Device %: unknown % 0x% (Total: % MB)%", (*statement).unknown},
		{"⚠ [%] Device %: % bytes of 0x% are more than live there - ignoring message", (*statement).ignored},
		{"⚠️  Invalid device_id % - ignoring message", (*statement).ignored},
		{"⚠️  Invalid size % - ignoring message", (*statement).ignored},
		{"⚠️  Invalid buffer_type % for buffer % on device %", (*statement).ignored},
		{"⚠ [PID %] Invalid buffer_type %", (*statement).ignored},
		{"Unknown message type: %", (*statement).ignored},
		{"⚠️  Too many consecutive errors (%) - closing connection (likely protocol mismatch)", (*statement).closed},
		{"cbl1: client of process % closed after % record%, its devices are incomplete: %", (*statement).closed},
		{"   PID % is dead, removing its buffers...", (*statement).died},
		{"   ✓ Removed % % (% MB) from PID %", (*statement).gone},
		{strings.TrimSuffix(DeadLine, "\n"), (*statement).nothing},
		{"📊 Current Statistics:", (*statement).nothing},
		{"  Device %", (*statement).nothing},
		{"    Buffers:", (*statement).nothing},
		{"    %: % bytes (% KB)", (*statement).nothing},
		{"    Total: % bytes", (*statement).nothing},
		{"  Active allocations: %", (*statement).nothing},
		{"Remaining allocations:", (*statement).nothing},
		{"Loaded kernels:", (*statement).nothing},
		{"  none", (*statement).nothing},
		{"device %: CBs %; incomplete", (*statement).closed},
		{"device %: CBs % bytes in sum, %", (*statement).nothing},
		{"odd: % %", (*statement).nothing},
		{"% record% of % client%; closed %", (*statement).nothing},
		{"cbl1: left out, as it is read too slowly: %", (*statement).unprinted},
		{"cbl1: left out, as it could not be written: %", (*statement).unprinted},
		{"left out: %", (*statement).unprinted},
		{"not recorded: %", (*statement).nothing},
		{"cbl1: listening on %", (*statement).nothing},
		{"", (*statement).nothing},
	} {
		if got, ok := take(text, t.text); ok {
			return s, t.read(&s, &got)
		}
	}
	return s, false
}

// take cuts a line along a template. Each part ends at the first occurrence of the text after it in
// the template, and the last one at the end.
func take(text, template string) (got parts, ok bool) {
	literal, rest, more := strings.Cut(template, "%")
	text, ok = strings.CutPrefix(text, literal)
	for i := 0; ok && more; i++ {
		literal, rest, more = strings.Cut(rest, "%")
		switch {
		case !more && literal == "":
			got[i], text = text, ""
		case !more:
			got[i], ok = strings.CutSuffix(text, literal)
			text = ""
		default:
			got[i], text, ok = strings.Cut(text, literal)
		}
	}
	return got, ok && text == ""
}

func (s *statement) nothing(*parts) bool   { s.idle = true; return true }
func (s *statement) ignored(*parts) bool   { s.what = Refused; return true }
func (s *statement) closed(*parts) bool    { s.lost = true; return true }
func (s *statement) unprinted(*parts) bool { s.left = true; return true }

func (s *statement) cbCame(got *parts) bool { return s.sum(Came, TypeCBAlloc, got[:]) }
func (s *statement) cbGone(got *parts) bool { return s.sum(Gone, TypeCBAlloc, got[:]) }

func (s *statement) kernelCame(got *parts) bool { return s.kernel(Came, got) }
func (s *statement) kernelGone(got *parts) bool { return s.kernel(Gone, got) }

func (s *statement) kernel(what Fate, got *parts) bool {
	for KernelKind(s.kind) != got[0] {
		if s.kind++; s.kind == kernelKinds {
			return false
		}
	}
	return s.sum(what, TypeKernelLoad, got[1:])
}

// sum reads a device, a size, a total and perhaps a process.
func (s *statement) sum(what Fate, brings Type, got []string) bool {
	s.what, s.typ = what, brings
	s.size = megabytesOf(got[1])
	s.total = megabytesOf(got[2])
	if !s.size.known() {
		return false
	}
	return s.on(got[0]) && (got[3] == "" || s.by(got[3]))
}

func (s *statement) bufferCame(got *parts) bool {
	s.what, s.typ, s.refs = Came, TypeAlloc, 1
	if got[5] != "" {
		n, err := strconv.ParseUint(got[5], 10, 31)
		if s.what, s.refs = CameAgain, int(n); err != nil || n < 2 {
			return false
		}
	}
	for BufferKind(s.kind) != got[2] {
		if s.kind++; s.kind > 4 {
			return false
		}
	}
	return s.by(got[0]) && s.exact(got[1]) && s.on(got[3]) && s.named(got[4])
}

func (s *statement) bufferLeft(got *parts) bool {
	s.what, s.typ = Gone, TypeAlloc
	if got[4] != "" {
		n, err := strconv.ParseUint(got[4], 10, 31)
		if s.what, s.refs = Left, int(n); err != nil || n == 0 {
			return false
		}
	}
	return s.by(got[0]) && s.named(got[1]) && s.on(got[2]) && s.exact(got[3])
}

func (s *statement) bufferUnknown(got *parts) bool {
	s.what, s.typ = Unknown, TypeAlloc
	return s.by(got[0]) && s.named(got[1]) && s.on(got[2])
}

// unknown reads that a CB or a kernel was freed that is not known.
func (s *statement) unknown(got *parts) bool {
	s.what, s.typ = Unknown, TypeCBAlloc
	if got[2] == "kernel" {
		s.typ = TypeKernelLoad
	}
	return s.on(got[1])
}

func (s *statement) died(got *parts) bool { s.dead = true; return s.by(got[0]) }

// gone reads how much of a dead process went.
func (s *statement) gone(got *parts) bool {
	s.removed = true
	switch got[1] {
	case "buffers":
		s.typ = TypeAlloc
	case "CBs":
		s.typ = TypeCBAlloc
	case "kernels":
		s.typ = TypeKernelLoad
	default:
		return false
	}
	n, err := strconv.ParseUint(got[0], 10, 31)
	s.refs, s.size = int(n), megabytesOf(got[2])
	return err == nil && s.size.known() && s.by(got[3])
}

func (s *statement) on(text string) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	s.device = int32(n)
	return err == nil
}

func (s *statement) by(text string) bool {
	n, err := strconv.ParseInt(text, 10, 32)
	s.pid = int32(n)
	return err == nil
}

func (s *statement) exact(text string) bool {
	n, err := strconv.ParseUint(text, 10, 64)
	s.size = exactly(n)
	return err == nil
}

// named reads an id: older servers print it in decimal.
func (s *statement) named(text string) (ok bool) {
	hex, is := strings.CutPrefix(text, "0x")
	base := 10
	if is {
		text, base = hex, 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	s.id = n
	return err == nil
}

// noAmount stands for an impossible number of bytes, like a total that has wrapped.
func noAmount() amount { return amount{least: 1} }

func (a amount) known() bool { return a.least <= a.most }

// megabytesOf reads the output of megabytes. Six digits stand for several numbers from 1 MB on; the
// one that can be halved most often is taken.
func megabytesOf(text string) amount {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0) || f >= 1<<43 {
		return noAmount()
	}
	if f == 0 {
		return amount{}
	}
	half := math.Pow10(int(math.Floor(math.Log10(f)))-5) / 2
	a := amount{least: uint64(math.Ceil((f - half) * (1 << 20))), most: uint64((f + half) * (1 << 20))}
	if spelt := megabytes(a.most); spelt != text && a.most > a.least {
		a.most--
	}
	if spelt := megabytes(a.least); spelt != text && a.least < a.most {
		a.least++
	}
	if a.least > a.most { // more digits than the server prints
		return exactly(uint64(math.Round(f * (1 << 20))))
	}
	for bit := uint64(1) << 62; bit > 0; bit >>= 1 {
		if a.bytes = a.most &^ (bit - 1); a.bytes >= a.least && a.bytes > 0 {
			break
		}
	}
	return a
}
