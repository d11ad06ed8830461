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
// A bar stands between wordings. One that begins with dots comes behind dots alone.
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
	}, memoryForms(), openForms())
}

// memoryForms returns the forms of the allocator's messages.
func memoryForms() []form {
	const (
		banks = " across {banks} banks"
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
