package clash

import (
	"slices"
	"strings"
)

// forms returns the wordings of tt-metal's messages, of all releases, and the wordings of people who
// quote them. They are data for parse: a part after another, each with a mark if it may be missing:
//
//	~  people leave it out
//	?  not all releases have it
//	*  hardly any release has it
//
// A bar stands between wordings. One that begins with dots comes behind dots alone. «Some/words» stand for each other.
func forms() []form {
	const (
		static  = "Statically allocated {what} buffers"
		clashAt = ". L1 buffer allocated at {limit}| L1 buffer allocated at {limit}|...allocated at {limit}"
		ends    = " and static {what} buffer region ends at {end/.}|, static {what} buffer region ends at {end/.}|" +
			", CB region ends at {end/.}|, CB region ends {end/.}|" +
			"...buffer region ends at {end/.}|...region ends at {end/.}|...ends at {end/.}"
		beyond = " which is beyond max L1 size of {limit/ B}| beyond max L1 size of {limit/ B}|" +
			"...B which is beyond max L1 size of {limit/ B}"
		larger  = "Cannot set circular buffer size to {size}. This is larger than the associated dynamically allocated L1 buffer"
		global  = "Cannot set to globally allocated buffer."
		exceeds = " Circular buffer size {size} B exceeds allocated L1 buffer"
	)
	tensor := Message{Kind: BackingBuffer, What: Circular}
	warned, whole := tensor, tensor
	warned.Warning, whole.Whole = true, true
	return slices.Concat([]form{
		parse(Message{Kind: Grow}, static, "* in program {program}", "~ on core range {cores}",
			" grow to {end} B| grow to {end}", beyond),
		parse(Message{Kind: Clash}, static, "~ in program {program}", " clash with L1 buffers",
			"~ on core range {cores}", clashAt, ends),
		parse(Message{Kind: ServiceClash, What: Circular}, "Circular buffers on service-core range {cores}",
			" in program {program}", " clash with ServiceCoreManager-allocated L1 (lowest service allocation at {limit}",
			", CB region ends at {end})"),
		parse(Message{Kind: Grid, What: Circular}, "Circular buffer core range {cores}", " in program {program}",
			" exceeds device compute grid ({cols}x{rows})",
			"* and is not entirely on cores claimed via ServiceCoreManager"),
		parse(Message{Kind: Append, What: Circular}, "Local buffer address {address}",
			" has to append to last L1 region [{start}, {stop})", " or be at a higher address"),
		parse(Message{Kind: IndexReuse, What: Circular},
			"Invalid circular buffer index: Cannot add circular buffer at index {index}",
			", another circular buffer already exists"),

		parse(warned, larger, " bank size of {tensor} B", " and may allow this circular buffer to write outside"),
		parse(tensor, larger, " bank size of {tensor/ B}"),
		parse(whole, larger, " sizeof {tensor/ B}| size of {tensor/ B}"), // without a blank in one release
		parse(tensor, global, exceeds, " bank size of {tensor/ B}"),
		parse(whole, global, exceeds, " size of {tensor/ B}"),
		parse(warned, strings.TrimLeft(exceeds, " "), " bank size of {tensor/ B}"),
		parse(whole, strings.TrimLeft(exceeds, " "), " size of {tensor/ B}"),
		parse(Message{Kind: PageSize, What: Circular}, "Total circular buffer size {size} B",
			" must be divisible by page size {page/ B}"),
		parse(Message{Kind: Slots, What: Dataflow}, "Cannot create DFB {index}", ": WH/BH supports at most {limit} dataflow buffers"),
		parse(Message{Kind: Slots, What: Circular}, "Buffer index ({index})",
			" exceeds max number of circular buffers per core ({limit})"),
		parse(Message{Kind: Compiler}, "required L1 memory usage {size} exceeds memory capacity {limit/.}",
			"? (usable space is [{start}, {stop})"),
	}, memoryForms(), openForms(), retoldForms())
}

// memoryForms returns the forms of the allocator's messages.
func memoryForms() []form {
	const (
		banks = " across {banks} banks|«$»"
		each  = "?, where each bank needs to store {need/ B}"
		bank  = "?, but bank size is only {bank/ B}|, but bank size is {bank/ B}|" +
			", bank size is only {bank/ B}|, bank size is {bank/ B}"
	)
	oneOf := func(text string) string { return "Out of Memory: " + text + "|" + text }
	memory := func(wording ...string) form {
		return parse(Message{Kind: OutOfMemory}, append(wording,
			"? (allocated: {allocated} B", "?, free: {free} B", "?, largest free block: {block} B", "*)",
			"?. After subtracting {ranges} dependency range(s) and {more} additional occupied range(s)",
			"?, {placeable} B remained placeable across {windows} window(s)", "?, largest {window} B")...)
	}
	return []form{
		parse(Message{Kind: AddressLimit}, "Out of Memory: Cannot allocate at an address below {limit}",
			". Allocation at {address/.}|. Tried to allocate at {address/.}"),
		memory(oneOf("Not enough space after considering dependencies {dependencies}"), "to allocate {size} B {buffer}",
			banks, "? ({need} B per bank)", bank),
		memory(oneOf("Not enough space to allocate {size} B {buffer}"), "* buffer", banks, each, bank),
	}
}

// openForms returns those about sizes that are chosen when a device is opened.
func openForms() []form {
	return []form{
		parse(Message{Kind: KernelConfig}, "Program size ({size})", " too large for kernel config buffer ({limit})",
			"~ on {type}"),
		parse(Message{Kind: TraceRegion}, "Creating trace buffers of size {size}B",
			"~ on MeshDevice {device}| on device {device}", ", but only {limit}B is allocated for trace region"),
		parse(Message{Kind: UnsafeAllocation, Warning: true},
			"Allocating device buffers is unsafe|Allocating device buffers is potentially unsafe",
			" due to the existence of an active trace"),
		parse(Message{Kind: PersistentL1}, "Persistent L1 arena is out of memory:", " cannot place {size} bytes",
			" aligned to {page}", "~ on cores {cores}", " in [{start}, {stop})"),
		parse(Message{Kind: PersistentSealed},
			"Cannot allocate persistent L1 on core {core}", " after program-local L1 placement"),
	}
}

// retoldForms returns a rule for each kind that people tell in words of their own: what a message begins with, and the
// words around each number, in any order.
func retoldForms() (out []form) {
	const (
		and  = "«, which is/ which is/, which/ which/ that/, and/ and/, but/ but/ because/ since/. Its/./,/;/:/ .../.../»"
		is   = "« is only / is at / is / are / at only / at / has / of only / of / only / = /: / (/ »"
		noun = "« the/ a/ an/ its/»"

		grow = " «grow to/grows to/grew to/growing to/reach/reaches/reaching/extend to/extends to/extending to/end at/ends at/" +
			"ending at/end/ends/need/needs/needing/require/requires/take/takes/taking/use/uses/using/total/totals/is/are/of/=» {end/n}"
		size   = "« size/ capacity/ limit/ memory/ budget/ space/»"
		beyond = " «beyond/exceeding/exceeds/exceed/above/over/past/larger than/bigger than/more than/against/vs/on a/\u003e»" +
			noun + "« available/ usable/»« max/ maximum/»« per-core/»« L1/»" + size
		most = noun + " «max L1/maximum L1/L1/limit»" + size

		meets = " «clash with/clashes with/clashed with/clashing with/overlap with/overlaps with/overlap/overlaps/overlapping/" +
			"collide with/collides with/run into/runs into/clash/clashes»"
		ends = "« which/ that/»« grow to/ grows to/ reach/ reaches/ extend to/ extends to/ end at/ ends at/ ending at/" +
			" ends/ end/ up to/:» {end/n}"
		starts = "« which/ that/»« is/ are/ was/»« allocated/ placed/ starting/ starts/ located/» at {limit/n}"
		upper  = " [{more/n}«, /,»{end/n}«]/)»"
		lower  = " [{limit/n}«, /,»{more/n}«]/)»"
		tensor = noun + "« lowest/» L1« buffers/ buffer/ tensors/ tensor/ regions/ region/»"
		cores  = "~« on/ over/ across/ for/» «core range/core ranges/cores/core» {cores}| on {cores}"
		inside = " in program {program}"
	)
	rule := func(says Message, wording ...string) {
		f := parse(says, wording...)
		f.free = tokensOf(and)
		out = append(out, f)
	}
	for _, what := range []string{Circular, Dataflow} {
		name, short := what+" buffer", Message{What: what}.short()
		begins := []string{"Statically allocated " + name + "«s/»|Statically allocated " + short + "«s/»"}
		for _, noun := range []string{name, strings.ToUpper(name[:1]) + name[1:], short} {
			begins = append(begins, "^"+noun+"«s/»« region/ regions/ allocation/ allocations/ size/ sizes/»")
		}
		region := noun + "« static/» «" + name + "s/" + name + "/" + short + "s/" + short + "»« region/ regions/»"
		rule(Message{Kind: Grow, What: what}, strings.Join(begins, "|"), cores, "*"+inside, grow+"| ({end/n}", beyond+is+"{limit/n}|"+most+is+"{limit/n}")
		rule(Message{Kind: Clash, What: what}, strings.Join(begins, "|"), cores, "~"+inside, meets, tensor+lower+"|"+tensor+starts,
			region+upper+"|"+region+ends+"|"+upper+"|"+ends, "*"+tensor)
		out = append(out, parse(Message{Kind: Clash, What: what}, "^L1 buffer«s/»|^L1 tensor«s/»|^L1 region«s/»",
			lower+"|"+starts, and+meets, region+upper+"|"+region+ends, "~"+inside, cores))
	}
	rule(Message{Kind: OutOfMemory}, "Out of Memory|Out of memory|out of memory|OOM|Not enough space|not enough space",
		"~ «to allocate/allocating/cannot allocate/allocation of»"+noun+" {size/n}", "« in/ of/ for/» {buffer}« buffer/»",
		"* across {banks} banks", "« where/»« each bank/» «needs/need/needing/requires»« to store/» {need/n}",
		"? bank size"+is+"{bank/n}", "? allocated"+is+"{allocated/n}", "? free"+is+"{free/n}|« only/» {free/n} free",
		"?"+noun+" largest« free/» block"+is+"{block/n}")
	rule(Message{Kind: TraceRegion}, "Creating trace buffers|creating trace buffers|create trace buffers|^trace buffer«s/»|^Trace buffer«s/»|^trace|^Trace",
		"« of size/ needs/ need/ requires/ require/ takes/ take/ is/ are/ of» {size/n}| required{words} is {size/n}",
		"* on MeshDevice {device}", " only {limit/n}« is/ are/ was/ were/»« allocated/ reserved/ available/»« for the trace region/ for trace region/ in the trace region»|"+
			"« exceeds/ exceed/ than/»"+noun+" «trace region/trace_region_size»"+size+is+"{limit/n}")
	rule(Message{Kind: KernelConfig}, "Program size|program size", is+"{size/n}",
		" «too large for/exceeds/larger than/bigger than/over/above»"+noun+" kernel config« buffer/ ring/»"+size+is+"{limit/n}", "~ on {type}")
	return out
}
