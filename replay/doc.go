// Package replay turns events into answers: all figures come from here, for every source.
//
// # Model
//
// A [Session] is a device.Fleet that follows events. It answers queries in the stream
// (Stream, Answer); a refusal of the fleet is a [RefusedError], counted as a
// [RefusalCount]. A [Shared] is one that several logs [Feed] at once.
//
// [Run] feeds a Session with all events of a source and makes a [Result] as far as its
// [Options] ask for it. The fleet has everything that it keeps for itself. The rest is in a row for
// each device, which devices share while the same happens to them. A row has only data; stages change
// it, each with its own file, and no stage knows another:
//
//	event ──> Session ──> device.Fleet
//	             │            │ operations
//	             ▼            ▼
//	          replay: looks before an event, applies it, passes it on
//	             │
//	             ├─ rows         which devices share a row, and part
//	             ├─ specs        Specs of devices, and of the Result
//	             ├─ books        rows of programs, sums; its ledger has a fleet for each kind of buffer
//	             ├─ executions   chips that execute later than they dispatch
//	             ├─ outside      buffers with unknown places, and beyond L1
//	             ├─ marker       marks: how much, where, when, and the moment; composed for output alone
//	             ├─ catalogue    the programs of a log, forgotten with their ids
//	             ├─ checks       every enqueued program ──> fit; alternatives where one of several ran
//	             └─ subscribers  timeline, runs, rooms, scarce, who, groups at a node: only for a
//	                             question in Options, by calls such as launched, laid and gone
//	             ▼
//	          Result
//
// A stage gets a row and the facts of an event, and returns an error without a place. The replay adds
// the place. A row has parts: says (facts of the source), programs, memory, marks and activity.
//
// A Result has for each device its registered and live programs ([Device], [DeviceKind],
// [Dataflow], [Scratchpad], [Programs], [ProgramDetail], [ProgramBuffer], [CoreGroup], [Fullest], [Mesh],
// [MeshLayout]) and the content of the whole L1 ([DeviceL1], [Dispatched], [L1Peak], [Laid], [LaidGroup],
// [L1Resident], [ProgramRun], [BufferInfo], [Spike], and the [ScarceMoment] of each [Scarcity]). [Checks] judge
// enqueued programs ([FailedCheck], [Tightest], [Growth]; [NoDevice], [CaptureID]). [Hits] count runs that were
// taken from earlier ones, [Live] lists buffers that were not freed, and [Earlier] counts buffers from before
// the source. An [AnomalyCount] counts odd things by [Code] ([Codes]).
// [Result.Judge] says on which [Terms] everything fits: a [Judgement] with its [Answer], each
// [Reason] for doubt, and the devices that pass a [Budget] ([OverBudget]; [ParseBudget] reads one) or the budget
// of an operation ([OpBudget], [OpJudged]; [ParseBudgets] reads a file of them, [BudgetError]). A [Filter]
// narrows all of it.
// [Rooms] answer a [RoomQuestion] about one more L1 buffer or [Tensor]: a [Room] for all devices and for each
// ([DeviceRoom]), each a [Gap] between two of [RoomLimit], and the runs that left no place ([TightRun]).
// [Held] answers a [Question], [Enqueued] is a run with the lowest buffers beside it, and a [Timeline] has
// a [Sample] now and then, and a [LaidMoment]. [Spec] and [Addresses] are the basis of the figures. Lists have
// at most [MaxListed] rows.
//
// A run of a capture and a register, enqueue or dispatch of a log lead into the same
// fleet. They count for different times: a program that a log registers is registered and
// alive until it is unregistered, and has one row for each id. A run of a capture stays
// registered, is alive until its CBs are freed, and has its own row.
//
// Types with tags are JSON as they are. [Result.Peak] returns a [PeakDocument] ([PeakSchema]): its [Head] with an
// [Origin] and an [Extent], its [Basis] on a [Chip], and a [DevicePeak] for each device. [Result.Room] returns a
// [RoomDocument] ([RoomSchema]), and [Result.Who] a [WhoDocument] ([WhoSchema]). [Result.Map]
// returns a [MapDocument] ([MapSchema]): a [MapDevice] with [Sizes] for each device, and a [MapClash]. [Result.Check]
// makes a [CheckDocument] ([CheckSchema]) of a Judgement: [Aborted] runs, the failed ones, a [BudgetJudged], and the
// [OverProgram] of an operation. [Result.Report] returns a [ReportDocument] ([ReportSchema]): a [ReportHead] with a
// [ReportBasis] and the [Layout] of placed buffers, a [DeviceL1] for each device, and a [Device] for each [DeviceKey].
// A [NodeAt] is null where it has no node, and [CodesOf] leaves the texts of reasons away. A [Name] is cut in JSON,
// and a [List] is never null there. [NewHeadroomRow] makes a [HeadroomRow].
//
// # Invariants
//
// A refused event has changed nothing. The same events give the same answers,
// byte for byte. Untold has everything that a source could not show: then no answer is that all
// fits. No sum wraps: one beyond 2^63-1 is an error.
//
// # Cost
//
// A program is placed once for each definition and Spec, and judged once beside the same
// buffers, however often it runs. An event costs the same as its call of the fleet, and
// some ns for each core that a buffer lies on. The composition of a peak is looked up in the end,
// or when its last buffer is freed. Memory grows with programs and live buffers.
//
// # Concurrency
//
// A Session belongs to one goroutine; its Fleet may be read by others. A Shared may be fed by
// several at once. A Result is a value of its own.
package replay
