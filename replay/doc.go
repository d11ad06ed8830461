// Package replay turns events into answers: it is the only place where figures come
// from, whoever told the events.
//
// # Model
//
// A [Session] is a device.Fleet that follows events. It answers queries in the stream
// (Stream, Answer); what the fleet refuses is a [RefusedError], counted as a
// [RefusalCount]. A [Shared] is one that several logs [Feed] at once.
//
// [Run] feeds a Session with all events of a source and makes a [Result] as far as its
// [Options] ask for it. What the fleet holds is asked of the fleet; what it does not keep
// has a row for each device:
//
//	event ──> Session ──> device.Fleet ──> what it did ──┐
//	  │                                                  ▼
//	  └── what the source says besides ──────────────> row ──> Device, DeviceL1
//	        a program that is enqueued ──> fit ──────────────> Checks
//
// A Result has, by device, what is registered and alive ([Device], [DeviceKind],
// [Dataflow], [Scratchpad], [Programs], [ProgramDetail], [ProgramBuffer], [CoreGroup], [Fullest], [Mesh],
// [MeshLayout]) and what lived in the
// whole L1 ([DeviceL1], [Dispatched], [L1Peak], [Laid], [LaidGroup], [L1Resident],
// [ProgramRun], [BufferInfo], [Spike], and the [ScarceMoment] of each [Scarcity]). [Checks] judge what was enqueued ([FailedCheck],
// [Tightest], [Growth]; [NoDevice], [CaptureID]). [Hits], [Live] and [Earlier] say what was taken from
// elsewhere, left over, or there before. An [AnomalyCount] counts what is odd by [Code] ([Codes]).
// [Result.Judge] says on which [Terms] all fits: a [Judgement] with its [Answer], each
// [Reason] for doubt, and where a [Budget] is passed ([OverBudget]; [ParseBudget] reads one), or that of an
// operation ([OpBudget], [OpJudged]; [ParseBudgets] reads a file of them, [BudgetError]). A [Filter] narrows all
// of it.
// [Rooms] answer a [RoomQuestion] about one more L1 buffer or [Tensor]: a [Room] for all devices and for each
// ([DeviceRoom]), each a [Gap] between two of [RoomLimit], and the runs that left no place ([TightRun]).
// [Held] answers a [Question], [Enqueued] lists what ran beside what, and a [Timeline] has
// a [Sample] now and then, and a [LaidMoment]. [Spec] and [Addresses] say what the figures rest on; lists have
// at most [MaxListed] rows.
//
// A run of a capture and a register, enqueue or dispatch of a log lead into the same
// fleet. They differ in how long something counts: what a log registers is registered and
// alive until it is unregistered, and has one row for each id; what a capture ran stays
// registered, is alive until its CBs are freed, and has one row for each run.
//
// Types with tags are JSON as they are. [Result.Peak] returns a [PeakDocument] ([PeakSchema]): its [Head] with an
// [Origin] and an [Extent], its [Basis] on a [Chip], and a [DevicePeak] for each device. [Result.Room] returns a
// [RoomDocument] ([RoomSchema]), and [Result.Who] a [WhoDocument] ([WhoSchema]). [Result.Map]
// returns a [MapDocument] ([MapSchema]): a [MapDevice] with [Sizes] for each device, and a [MapClash]. [Result.Check]
// makes a [CheckDocument] ([CheckSchema]) of a Judgement: [Aborted] runs, the failed ones, a [BudgetJudged], and the
// [OverProgram] of an operation. [Result.Report] returns a [ReportDocument] ([ReportSchema]): a [ReportHead] with a
// [ReportBasis] and the [Layout] of placed buffers, a [DeviceL1] for each device, and a [Device] for each [DeviceKey].
// A [NodeAt] is null where it has no node, and [CodesOf] leaves the texts of reasons away. A [Name] is cut where JSON has it, and a [List] is never null there. [NewHeadroomRow]
// makes a [HeadroomRow].
//
// # Invariants
//
// An event that is refused has changed nothing. The same events give the same answers,
// byte for byte. What a source could not show is in Untold: nobody can say then that all
// fits. No sum wraps: one beyond 2^63-1 is an error.
//
// # Cost
//
// A program is placed once for each definition and Spec, and judged once beside the same
// buffers, however often it runs. An event costs what its call of the fleet costs, and
// some ns for each core that a buffer lies on. What a peak consists of is looked at just
// before it could be lost. Memory grows with programs and live buffers.
//
// # Concurrency
//
// A Session belongs to one goroutine; its Fleet may be read by others. A Shared may be fed by
// several at once. A Result is a value
// of its own.
package replay
