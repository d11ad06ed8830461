package clash

// words has the words of all explanations. It is data for telling: blocks of rows, each
//
//	label|conditions|text
//
// A row gives a note if all of its conditions hold, "!" before a name denies it. A row without a
// label stands for the row above it, if that does not hold. The label "=" is the summary. A line
// that begins with a tab goes on with the text of the line above. A number holds if it is not 0, and with
// a question mark if the text has it.
//
// A text has fields: {name} is a number with commas, {name+} an amount of bytes, {name%} a number
// without commas, {name#page} counts pages. Other names are texts of facts.go, or another block: the first row
// that holds, or of a block with labels one row for each label, one after the other.
const words = `
@region
=||{happened}: the {long} end {over+} {past}
cores|cores|{cores}
numbers||the {short} region ends at {end}, {limitIs} {limit}: {over+} over = {share} of {basis}
why||{why}
chip||{chip}
fit|region|if the base is {base}, the region must shrink from {region+} to the room of {room+}{raise}
||the region must end at or below {limit}{raise}
above|clash,above|{span}: {above+} a core
|clash,!l1,!beyond,wide|{span}: {aboveBlackhole+} a core if it is a Blackhole
|clash,!l1,!beyond|{span}: {aboveWormhole} bytes a core on Wormhole, {aboveBlackhole} on Blackhole
likely|grow,forgot|the excess is the base address: sizes were summed from address 0 and fill L1 exactly, the base
	was forgotten
|grow,near|a near miss: padding between {short}s, one {short} more than was budgeted (tt-metal #50748), or a budget
	that counts L1 from address 0
|grow,fromZero|perhaps a budget that counts L1 from address 0: there the {region#byte} of the region would fit,
	from base {base} they do not
|clash,tiny,!small-spare|a few hundred bytes: small blocks leaked at the top of L1 push L1 buffers down (tt-metal #54876)
|clash,tiny|a few hundred bytes: L1_SMALL set too large, or small blocks leaked at the top of L1 push L1 buffers
	down (tt-metal #54876)
|clash,full|L1 buffers leave only {room+} for {short}s, so that hardly any program can run
|clash,near|a near miss: the op budgeted before an L1 buffer was allocated (tt-metal #46840), or its budget saw
	only bank 0 (tt-metal #53538)
likely|clash,semaphores|at most 64 KiB lie from the lowest L1 buffer to the end of L1: likely small buffers of cached
	programs, such as semaphores, which stay as long as the program cache; use_l1_small_for_semaphores moves them to
	L1_SMALL (tt-metal #42637)
|clash,perhaps-semaphores|on a Wormhole at most 64 KiB lie from the lowest L1 buffer to the end of L1: likely small buffers
	of cached programs, such as semaphores; use_l1_small_for_semaphores moves them to L1_SMALL (tt-metal #42637)
likely|clash|if this program ran before, it was cached with its first plan, and L1 buffers that were allocated
	later are in its way (tt-metal #53537)
open|grow,lower|{lowerBase}; l1_small_size does not matter
|clash,lower,small-spare|{lowerSmall}; or {lowerBase}
|clash,lower|{lowerBase}
|clash,!huge,small-spare|{lowerSmall}
||{none}
try|service-clash|keep the program's core range off the service cores, or take {over+} off its {short}s there
|clash,moveFirst|{move}
||{shrink}
try|dataflow,!service-clash|put DFBs that are never in use at once into one alias group: they share one address
try|clash,moveFirst,!crowded|{shrink}
|clash,!moveFirst|{move}
unknown|grow|which {short} is large, and holes between them (only the end counts): {capture}
|service-clash|which {short} reaches up, which service allocation it is, and on which device: {capture}, but not
	the services
||which {short} reaches up, which L1 buffer is lowest, and holes in either: {capture}

@happened
|grow|too large for L1
|service-clash|clash with a service core
||clash with L1 buffers
@past
|grow|beyond the end of L1
|service-clash|above the lowest L1 allocation of the service
||above the lowest L1 buffer
@limitIs
|grow|the L1 of a core at
|service-clash|the lowest service allocation is at
||the lowest L1 buffer is at
@why
|grow|{short}s are placed upwards from the base, and end beyond L1 by themselves: L1 buffers play no part, moving
	them does not help
|service-clash|{short}s grow up from the base; these cores run a service that has taken L1 above, and no L1 buffer
	is involved
|hybrid|{short}s grow up from the base, L1 buffers down from the top: they meet. The run is in HYBRID mode: a buffer in
	lockstep counts on all cores, one that was allocated per core on its own
||{short}s grow up from the base, L1 buffers down from the top: they meet. Normally one lowest address counts for
	all cores, even where no L1 buffer lies
@chip
|given|as given: L1 {l1} bytes, base {base}
|likely,based|likely {arch} ({evidence}): L1 {l1} bytes; base {base} (it varies with the release)
|likely|likely {arch} ({evidence}): L1 {l1} bytes
|based|{evidence}; base {base} as given
||{evidence}
@basis
|region|the region ({region#byte} above base {base})
|!least-region|the region
||the region, for bases of {lowBase} to {highBase}
@raise
|clash|, or all L1 buffers must lie at or above {end}
@span
||from the lowest L1 buffer to the top of L1 (L1 buffers, holes, L1_SMALL)
@lowerBase
||worker_l1_size larger by {rounded} lowers the base, if kernels leave so much of their ring
@lowerSmall
||l1_small_size smaller by {rounded}, if L1_SMALL has so much to spare: L1 buffers move up
@none
||no parameter of open_device helps
@move
|tiny,!small-spare|free small L1 buffers that are left over from earlier steps
|tiny|lower L1_SMALL by at least {over+}, or free small L1 buffers that are left over from earlier steps
|all-banks|free {over+} a core below {end}: deallocate the lowest tensors before this op, or move one to DRAM
||free {over+} a core below {end}: deallocate the lowest tensors before this op, move one to DRAM, or shard over
	more cores
@shrink
|near|take {over+} off the {short}s of these cores: {tiles#tile} of 2,048 bytes{spread}
|half|smaller blocks, or single instead of double buffering: the {short}s must lose {share} ({tiles#tile} of 2,048
	bytes){spread}
|room|{noHalf}: the {short}s must become {times%} times smaller{spread}
|most|{noHalf}: the {short}s must lose {share}{spread}
||smaller blocks, or single instead of double buffering if that is enough: it saves at most half, and {over+} must
	go{spread}
@noHalf
||single instead of double buffering saves at most half and is not enough
@spread
|one-core|; or spread the work over more than one core
@capture
||a capture has each {short}{too} as a node{report}
@too
|clash| and L1 buffer
@report
|!dataflow|, and {reportCommand} says which are the program's

@grid
=||cores outside the grid: {outside%} of {numCores#core} of a CB are not on the {cols%}x{rows%} compute grid
cores|cores|{cores}
numbers||outside: {outsideCores}
why||a CB may be on cores of the compute grid, or on cores that a service has claimed, and on no others
chip|boards|likely {boards} or one with the same harvesting and dispatch: its grid is {cols%}x{rows%}
likely||written for a board with a larger grid: rows (Wormhole) or columns (Blackhole) are harvested, or dispatch
	takes some
try||take the grid from the device (compute_with_storage_grid_size) instead of a constant
open||{none}
unknown||which CB it is: {capture}

@append
=||placement conflict: a CB was to start at {address}, {over+} below the end of what is taken
numbers||the last region of the cores is {range}, {length+}; the next CB must start at or above {stop}
why||tt-metal places the CBs of a program upwards and never goes back into bytes that it has marked
likely||not the fault of sizes: its own placement never asks for such an address; an address was forced, or it is
	a bug in tt-metal
try||look for code that sets CB addresses; if there is none, report it with the program's CBs in order of creation
open||{none}
unknown||which CB, which cores and which program: {capture}

@index-reuse
=||index reuse: two CBs of one program use buffer index {index%} on the same core
why||a core has one CB per buffer index. CBs of one program may share an index only on cores that do not overlap
chip|high-index|likely Blackhole: Wormhole has indices 0 to {lastIndex%}
likely||core ranges that overlap by a row or column, or a helper that adds the same CB twice
try||another index for one of them, or core ranges that do not overlap. Several indices may share one CB instead
open||{none}
unknown||the cores, and the CB that came first; a capture does not help: it has no indices

@backing-buffer
=||larger than its tensor: a CB of {size+} lies in a tensor with {tensor+} {inBanks}
numbers||{over+} too much = {ofSize} of the CB; that is {tiles#tile} of 2,048 bytes
why||a tensor-backed CB takes no bytes of its own: it uses those that the tensor has on each core, and must not be
	larger
fit|whole|the wording of 2024 compares with the whole tensor: the CB must be smaller still, and fit into the
	tensor's part on one core
likely|warning|an older release, which only warned: the CB then overran its tensor silently, and results may be
	wrong (tt-metal #15337)
likely||a size from the whole tensor or from another shard shape, or a tensor sharded over more cores than the op
	counted on
try||the CB's size from the tensor's shard on one core, less the address offset; or shard over fewer cores
open||{none}
unknown||which CB and which tensor, and cores: {capture}
@inBanks
|whole|in all banks together
||a bank

@page-size
=|!page|page size 0: a CB of {size+} has pages of no bytes
||not whole pages: a CB of {size+} has {pages#page} of {page#byte} and {rest+} more
fit|page,!lower-size|the smallest legal size is {page#byte}
|page,addressable|the nearest legal sizes are {lower-size} and {higher-size} bytes
why|page|the total size must be a multiple of the page size of every buffer index of the CB
likely|!page|the page size was computed from a data format or shape that was not set
|!lower-size|the page is larger than the CB: the page of another data format, or a size in elements instead of bytes
||indices of one CB with different data formats, or a size reckoned with the tiles of another format
try|!page|set the page size of every index of the CB before its total size
||the total size as number of pages x page size; with several indices, a multiple of all their page sizes
open||{none}
unknown|page|which CB and index; a capture has sizes, but no pages and no indices

@kernel-config
=|size?,limit?|too large for {ring}: {size+}, there are {limit+}
||a program is too large for {ring}
numbers|size?,limit?|the program has {size}, the ring {limit}: the ring must be larger than the program
why||the ring holds kernel binaries, runtime arguments, semaphores and the configuration of CBs of each program,
	not the data of CBs
try||fewer or smaller kernels, fewer runtime arguments; profiling and watching make kernels larger
open|!type|on TENSIX cores a smaller worker_l1_size, on others none; the text does not say which they are
|ACTIVE_ETH|{none}: this ring has a fixed size, 26,624 bytes on Blackhole and 25,600 in older releases (the watcher
	has TT_METAL_WATCHER_DISABLE_ETH for Ethernet cores)
|!tensix|{none}: this ring has a fixed size (the watcher has TT_METAL_WATCHER_DISABLE_ETH for Ethernet cores)
|size?,limit?,any-chip|worker_l1_size smaller by {ringNeed+} on Blackhole, {ringWormhole} on Wormhole: the base of CBs
	moves up by as much, and the ring ends there. 0, the default, is the maximum less {ringSize}
|size?,limit?|worker_l1_size smaller by {ringNeed+}: the base of CBs moves up by as much, and the ring ends there. 0,
	the default, is the maximum less {ringSize}
||a smaller worker_l1_size: the base of CBs moves up, and the ring ends there
unknown||which program it is: a capture has no kernels
@ring
||the kernel config ring{ofType}
@ofType
|type| of {what}
@needed
||{size} are needed, {limit} are there: {over+} more

@trace-region
=||too large for the trace region: all traces together take {size+}, there are {limit+}
numbers|size?,limit?|{needed}
why||the trace region is DRAM, set aside when the device is opened; traces stay there until they are released,
	each padded to whole pages
try||release traces that are not replayed any more
open|size?|trace_region_size of {size#byte} or more, and more for traces that are captured later
||a larger trace_region_size
open|size?|releases since June 2026 give each bank its part, rounded up to 8,192 bytes; up to then each bank gave
	the whole size. Where 0 is the default, it sets nothing aside and traces lie in DRAM like other buffers
unknown||which traces there are: a capture does not tell them from other DRAM where the region is 0

@unsafe-allocation
=||a warning: a buffer was allocated while a trace can be replayed, and a later replay may write over it
why||a trace keeps the addresses of what it used while it was captured; buffers that were freed then may be
	somebody else's now. One line stands for all such allocations: it is printed once
likely||persistent tensors, or programs that run for the first time, after begin_trace_capture; wrong results
	without an error
try||allocate what lives longer before the first capture, and run each program once before; free what is allocated
	later before the next replay; or release the trace
open||{none}: a larger trace_region_size holds traces, not the buffers that they use
unknown||which buffer it is, and whether it was written over: TT_METAL_TRACE_ALLOC_TRACKING=1 tells in newer
	releases

@persistent-l1
=|over|can never fit: {size+} of persistent L1 were asked for, and there are {length+}, {over+} too little
||no persistent L1 left: {size+}, in one piece that is free on all of the cores
cores|cores|{cores}
numbers||{size+}, aligned to {page}; all there is is {range}
why||persistent pages outlive programs and lie at the bottom of L1, each at one address on all of its cores; CBs
	start above them
try||free persistent pages that are not needed any more, or ask for smaller ones, or on other cores
open|lower|{lowerBase}
||{none}
unknown||which pages lie there: a capture does not show them

@persistent-l1-late
=||persistent L1 was asked for too late: a program that is alive has its CBs on this core already
cores|cores|{cores}
why||persistent pages lie at the bottom of L1, and CBs start above them: what is placed already cannot move up
try||allocate persistent L1 before the first program is placed on the core, or free the programs there
open||{none}

@out-of-memory
=|no-bank|no {memory} at all: a bank has 0 bytes, and a buffer of {size+} needs some
|is:bank-size|can never fit: an empty bank of {memory} has {bank+}, the buffer needs {need+}, {over+} more
|is:free|{memory} exhausted: {needs}, {over+} more than is free
|is:largest-free-block|{memory} fragmented: {needs} in one piece, {over+} more than the largest free block
|is:placeable|{memory} taken by other allocators: {needs}, {over+} more than they leave
|is:largest-placeable-block|{memory} cut up by other allocators: {needs} in one piece, {over+} more than the largest
	that they leave
|dependencies|{memory} taken by other allocators: no space beside their ranges for a buffer of {size+}{each}
||out of {memory}: no space for a buffer of {size+}{each}; {silent} does not say how much is free
numbers||{figures}
numbers|odd|allocated and free do not add up to the bank: the text was altered, or the rest is kept for alignment
why|dependencies|per-core buffers and sub-devices have allocators of their own for the same bytes, and their ranges
	are taken away first. What is allocated and free is that of one allocator: a free block larger than was asked
	for is normal here
|no-bank|the size of {what} is set when the device is opened, and is 0 unless it is asked for
|L1|a bank of L1 is what tensors may take of one core, from the base of circular buffers to L1_SMALL. {oneAddress}
|DRAM|a buffer has one address on all banks, so one piece has to be free on all of them
||the size of {what} is set when the device is opened; what is allocated there stays until it is freed
try|option|
|is:bank-size,all-banks|keep it in DRAM, or in smaller pieces: no order of allocations helps
|is:bank-size|shard it over more cores or in smaller pieces, or keep it in DRAM: no order of allocations helps
|dependencies,!is:free|free buffers that other allocators hold, per core or in a sub-device, or allocate this one
	before them
|is:free|free {over+} of each bank before this: deallocate what is not needed any more{moreBanks}
|is:largest-free-block|ttnn.reallocate of a tensor that lies between two free blocks, or deallocate it before this
||deallocate what is not needed any more; a newer release says how much is free, and in which pieces
try|is:largest-free-block,!option,!dependencies|allocate what lives long first, so that what is short-lived does not
	leave holes
try|L1|move a tensor to DRAM
open|option|open the device with {option}{atLeast}
|DRAM|a smaller trace_region_size, if it is larger than the traces: it is taken from the banks of DRAM
|L1,spare,small-spare|l1_small_size smaller by at least {rounded+}, if L1_SMALL has so much to spare: tensors get it
|L1,!is:bank-size,!spare,!no-spare|none for certain: a smaller l1_small_size gives tensors more, if L1_SMALL has bytes to spare, but
	it moves them all
||{none}
unknown|in-l1|which buffers hold it, and what lies between free blocks: a capture has each as a node; {roomCommand}
	says how large one more could be, and who limits it
||which buffers hold it: a capture has each as a node, with the operation that allocated it
@moreBanks
|!all-banks|, or shard over more banks
@needs
||the buffer needs {need+} of each bank
@oneAddress
|hybrid|The run is in HYBRID mode: a buffer in lockstep has one address on all banks, so one piece has to be free on all
	of them; one that is allocated per core does not
||A buffer has one address on all banks, so one piece has to be free on all of them
@silent
|retold|the text
||this release
@each
|need?|, {need+} of each bank
|banks| across {banks#bank}
@figures
-||{size} bytes
-|banks| across {banks#bank}
-|need?|, {need} of each
-|bank?|; a bank has {bank} bytes
-|allocated?|: {allocated} allocated
-|free?|, {free} free
-|block?|, the largest free block {block}
-|placeable?|; without the ranges of other allocators {placeable}
-|placeable?|, the largest block of it {window}
@atLeast
|!least,bank?| of more than {bank#byte}
|!least| larger than now
|trace-banks| of {least-all#byte} or more ({least} of each bank; up to June 2026 the size is that of each bank)
|| of {least#byte} or more

@address-limit
=||no bytes left above {limit}: a buffer would start at {address}, {over+} below the lowest address for one
why||buffers are placed from the top of a bank downwards, and this bank is full down to its lowest address
try||deallocate what is not needed any more, shard over more cores, or move a tensor to DRAM
open||{none} for certain: a smaller l1_small_size gives tensors more, if L1_SMALL has bytes to spare
unknown||which buffers hold the bank: a capture has each as a node; {roomCommand} says how large one more could be

@slots
=||no such slot: {short} {index%} of a core that has {limit#slot}, 0 to {lastSlot%}
why||each {short} of a core has a number of its own, and kernels name it by that number
try||one {short} for several purposes that never overlap in time, or the same number on cores that do not overlap
open||{none}
unknown||which {short}s the others are: a capture does not help, it has no indices

@compiler
=||too large for the compiler: a function needs {size+} of the L1 of a core, {limit+} are usable, {over+} too little
numbers|stop|usable: {range}
why||the compiler (d2m of tt-mlir) places all buffers of a function before it runs: nothing has run on a device
try||smaller shapes, a grid of more cores, or DRAM for what lives long
open||{none}: the compiler counts the usable range itself
unknown||which buffers of the function they are: a capture has none, since nothing ran

@part
=|grow|too large for L1: the {long} end beyond L1
|clash|clash with L1 buffers: the {long} end above the lowest L1 buffer
|service-clash|clash with a service core: CBs end above L1 that a service has taken
|grid|cores outside the grid: a CB is on cores that are not on the compute grid
|append|placement conflict: a CB was to start inside what is taken already
|index-reuse|index reuse: two CBs of one program use one buffer index on a core
|address-limit|no bytes left: a buffer would start below the lowest address for one
|slots|no such slot: a core has no {short} with this number
|compiler|too large for the compiler: a function needs more L1 than is usable
|backing-buffer|larger than its tensor: a CB is larger than the tensor that it lies in
||not whole pages: the size of a CB is no multiple of its page size
cores|cores|{cores}
numbers|end|the region ends at {end}
numbers|limit|{limitIs} {limit}
numbers|size|the CB has {size} bytes
numbers|tensor|the tensor has {tensor} bytes
numbers|page|a page has {page} bytes
numbers|address|the CB was to start at {address}
why|has-region|{why}
open|has-region,!service-clash|it depends on how much is too much, and that is not in the text
||{none}
try||paste the whole message, as it stands in the log

@denied
=|has-region|{happened}, but its numbers show none: the region ends at {end}, the limit is {limit}
|grid|cores outside the grid, but its numbers show none: all are on the {cols%}x{rows%} compute grid
|append|placement conflict, but its numbers show none: {address} is not below the end of {range}
|backing-buffer|larger than its tensor, but its numbers show no excess: {size#byte} in a bank of {tensor}
|page-size|not whole pages, but its numbers show that it is: {size#byte} are {pages#page} of {page#byte}
|kernel-config|too large for {ring}: {size+}, there are {limit+}, but its numbers show that it fits
|address-limit|no bytes left, but its numbers show none missing: {address} is not below {limit}
|slots|no such slot, but its numbers show that there is: {short} {index%} of {limit#slot}
|compiler|too large for the compiler: {size+} of {limit+}, but its numbers show that it fits
|trace-region|too large for the trace region: all traces together take {size+}, there are {limit+}, but its numbers
	show that it fits
||out of {memory}, but its numbers show none: {need} are needed of each bank, and a block of {largest} is free
cores|has-region,cores|{cores}
|grid,cores|{cores}
likely||the text was cut or altered, for example by a line break inside the last number: tt-metal prints this
	message only when its numbers show it
try||paste the message again from the original log

@change
change|asks-room,!margin|how far {parameter} can {verb} is not known: no run was judged that takes any bytes
|asks-room,failed|runs of {capture} that do not fit as it is: {failed%}; {parameter} can {verb} by nothing
|asks-room|of all runs of {capture} this one leaves the least room above its CBs, {gap+}: {run}. {parameter} can {verb}
	by no more than that, and {enough}
|asks-trace|trace_region_size takes DRAM alone: in L1 nothing changes
|asks-small,small|as far as {capture} shows, l1_small_size, {small+}, can shrink {shrinks}
change|lower|how far worker_l1_size can grow is not known: no capture has the kernels, which lie in the ring
@enough
|large|it need not: the ring of that run is large enough
|!wanted|how many are needed is not in the text
|lack|{wanted} are needed: too little, by {lack+}
||{wanted} are needed: the CBs of all runs still fit
@shrinks
|small-used|by no more than {small-free#byte}, since L1_SMALL buffers live there
||by all of it, since no L1_SMALL buffer lives there

@match
program|none|no program has a region with this end{onCores}{nearest}
||{run}: same {alike}{placed}{which}{others}
buffers|!none|{buffers}
lowest|!none,clash|{lowest}
@onCores
|named| on these cores
@nearest
|found|; nearest is {run}, which ends at {ends}
|named|, and none is on exactly these cores
@alike
|named|cores and region {agrees}
||region {agrees}
@agrees
|exact,clash,limit?|end, same lowest address
|exact|end
|other-lowest,any-tensor|end; lowest address differs: {tensor-at} instead of {limit}
|other-lowest|end; no L1 buffer is live there, the message has one at {limit}
||size; the {source} has no addresses: with base {run-base} the region ends at {ends} instead of {end}
@placed
|placed|; the {source} has no addresses: these are placed by tt-metal's rule
@which
|missed|; the nearest of {runs} that agree
|several|; the first of {runs} that agree
@others
|many|, others in {other} and more
|other|, others in {other}
`
