"""The documents of cbl1, by tool/docs/schemas. make api writes this file."""
from typing import Any, NotRequired, TypedDict


class Check(TypedDict):
    aborted: CheckAborted | None
    accepted: list[CheckUntold]
    answer: str
    basis: CheckBasis
    budget: CheckBudget | None
    failures: list[CheckFailure]
    failures_more: int
    file: str
    nodes: int
    only: CheckOnly | None
    op_budgets: list[CheckOpBudget]
    rank: None | int
    runs: int
    runs_failed: int
    runs_inferred: int
    schema: str
    tightest: CheckTightest | None
    untold: list[CheckUntold]


class CheckAborted(TypedDict):
    count: int
    detail: str
    first_counter: int


class CheckBasis(TypedDict):
    arch: str
    arch_from: str
    base_from: str
    cb_addresses: str
    cb_align: int
    cb_base: int
    earlier_l1_buffers: int
    earlier_l1_bytes: int
    l1_size_bytes: None | int
    l1_small_bytes: int
    l1_small_from: str
    usable_bytes: None | int


class CheckBudget(TypedDict):
    bytes: None | int
    exceeded: list[CheckOver]
    text: str


class CheckBuffer(TypedDict):
    address: None | int
    core_max_bytes: None | int
    counter: int
    device: None | int
    kind: str
    layout: str
    op: str
    size_bytes: int
    t: NotRequired[float]
    tensor: CheckTensor | None


class CheckClash(TypedDict):
    above: list[CheckResident]
    cbs: list[CheckResident]
    clashing_bytes: int
    cores: str
    count: int
    device: None | int
    devices: int
    limit: int
    limit_is: str
    over_bytes: int
    region_end: int
    unusable: list[CheckHole]


class CheckFailure(TypedDict):
    counter: int
    device: None | int
    devices: int
    program: CheckRun
    synthesised: bool
    t: NotRequired[float]
    times: int
    verdict: CheckVerdict


class CheckGrowth(TypedDict):
    bytes: int
    cb: int
    kind: str


class CheckHole(TypedDict):
    bytes: int
    end: int
    start: int
    why: str


class CheckOnly(TypedDict):
    core: None | str
    device: None | int
    op: str


class CheckOpBudget(TypedDict):
    bytes: None | int
    line: int
    op: str
    programs: int
    programs_over: int
    text: str
    worst: CheckOverProgram | None


class CheckOver(TypedDict):
    below_l1_small_bytes: int
    core: str
    cores: str
    count: int
    counter: int
    device: None | int
    op: str
    over_bytes: int
    t: NotRequired[float]
    tracked_bytes: int


class CheckOverProgram(TypedDict):
    core_max_bytes: int
    counter: int
    device: None | int
    op: str
    over_bytes: int


class CheckRefusal(TypedDict):
    buffers: str
    cores: str
    device: None | int
    devices: int
    kind: str
    limit: int
    message: str
    over_bytes: int
    region_end: int


class CheckResident(TypedDict):
    buffer: CheckBuffer | None
    bytes: int
    cb: None | int
    end: int
    kind: str
    program: CheckRun | None
    start: int


class CheckRoom(TypedDict):
    cores: str
    count: int
    device: None | int
    devices: int
    free_bytes: int
    largest_gap_bytes: int
    largest_gap_start: int
    region_end: int


class CheckRun(TypedDict):
    counter: int
    inferred: bool
    op: str
    t: NotRequired[float]


class CheckTensor(TypedDict):
    called_at: str
    dtype: str
    freed: None | int
    last_use: None | int
    layout: str
    other_shapes: int
    output_counter: int
    output_of: str
    shape: str


class CheckTightest(TypedDict):
    counter: int
    device: None | int
    headroom: CheckRoom
    may_grow: list[CheckGrowth]
    program: CheckRun
    t: NotRequired[float]


class CheckUntold(TypedDict):
    code: str
    text: str


class CheckVerdict(TypedDict):
    advice: str
    clashes: list[CheckClash]
    difference: str
    hybrid_refusals: list[CheckRefusal]
    message: str
    refusals: list[CheckRefusal]


class Diff(TypedDict):
    basis: DiffBasis
    captures: list[DiffCapture]
    devices: list[DiffDevice]
    equal: bool
    growth: DiffGrowth | None
    schema: str
    sides: DiffSides


class DiffBasis(TypedDict):
    left_more: bool
    programs: str
    rough: bool


class DiffBytesPair(TypedDict):
    new: int
    old: int


class DiffCapture(TypedDict):
    chip: DiffChips
    equal: bool
    left: list[DiffPart]
    new: DiffFile | None
    old: DiffFile | None
    rank: None | int


DiffCb = TypedDict("DiffCb", {
    "global": bool,
    "kind": str,
    "new": DiffCbRow | None,
    "old": DiffCbRow | None,
    "state": str,
})


class DiffCbRow(TypedDict):
    bytes: int
    cb: int
    cores: str
    start: None | int


class DiffChip(TypedDict):
    arch: str
    arch_from: str
    base_from: str
    cb_align: int
    cb_base: int
    l1_size_bytes: int
    l1_small_bytes: int
    l1_small_from: str


class DiffChips(TypedDict):
    new: DiffChip
    old: DiffChip


class DiffDevice(TypedDict):
    at_peak: list[DiffPart]
    core_groups: list[DiffGroup]
    figures: list[DiffFigure]
    grid: DiffGrids
    ids: list[DiffDeviceID]
    kind: str
    peak: DiffPeaks
    peak_groups: None | list[Any]
    program_states: dict[str, Any]
    programs: list[DiffProgram]
    programs_listed: bool
    state: str


class DiffDeviceID(TypedDict):
    capture: int
    new: None | int
    old: None | int
    rank: None | int


class DiffExtent(TypedDict):
    bytes: int
    start: None | int


class DiffFigure(TypedDict):
    name: str
    new: int
    old: int


class DiffFile(TypedDict):
    file: str
    log: bool
    nodes: int
    saved: bool


class DiffGrid(TypedDict):
    cols: int
    cores: int
    cores_from: str
    rows: int


class DiffGrids(TypedDict):
    new: DiffGrid | None
    old: DiffGrid | None


class DiffGroup(TypedDict):
    core_peak_bytes: DiffBytesPair
    cores: str
    count: int
    end: DiffBytesPair
    registered_bytes: DiffBytesPair
    state: str


class DiffGrowth(TypedDict):
    allowed_bytes: int
    exceeded: bool
    grower: DiffPart | None
    grown_bytes: int
    program: str
    text: str


class DiffPart(TypedDict):
    cb: None | int
    kind: str
    new: DiffExtent | None
    old: DiffExtent | None
    op: str
    state: str
    times: int


class DiffPeak(TypedDict):
    core: str
    counter: int
    device: None | int
    op: str
    rank: None | int
    tracked_bytes: int


class DiffPeaks(TypedDict):
    new: DiffPeak | None
    old: DiffPeak | None


class DiffProgram(TypedDict):
    cbs: list[DiffCb]
    new: DiffProgramRow | None
    old: DiffProgramRow | None
    op: str
    state: str
    times: int


class DiffProgramRow(TypedDict):
    core_max_bytes: int
    cores: int
    first_counter: int
    global_cbs: int
    highest_end: int
    local_cbs: int
    logical_bytes: int
    resident_bytes: int


class DiffSide(TypedDict):
    accepted: list[str]
    answer: str
    files: int
    peak: DiffPeak | None
    runs: int
    runs_failed: int
    tightest: DiffTightest | None
    untold: list[str]


class DiffSides(TypedDict):
    new: DiffSide
    old: DiffSide


class DiffTightest(TypedDict):
    counter: int
    device: None | int
    free_bytes: int
    largest_gap_bytes: int
    op: str
    rank: None | int
    region_end: int


class Peak(TypedDict):
    basis: PeakBasis
    devices: list[PeakRow]
    file: str
    fullest: None | int
    hits_inferred: int
    nodes: int
    only: None | PeakOnly
    rank: None | int
    schema: str
    stale: list[PeakStale]
    untold: list[PeakUntold]


class PeakBasis(TypedDict):
    arch: str
    arch_from: str
    base_from: str
    cb_addresses: str
    cb_align: int
    cb_base: int
    earlier_l1_buffers: int
    earlier_l1_bytes: int
    l1_size_bytes: None | int
    l1_small_bytes: int
    l1_small_from: str
    usable_bytes: None | int


class PeakBuffer(TypedDict):
    address: None | int
    core_max_bytes: None | int
    counter: int
    device: None | int
    kind: str
    layout: str
    op: str
    size_bytes: int
    t: NotRequired[float]
    tensor: None | PeakTensor


class PeakOnly(TypedDict):
    core: None | str
    device: None | int
    op: str


class PeakPeak(TypedDict):
    below_l1_small_bytes: int
    core: str
    cores: str
    count: int
    counter: int
    highest_gap: None | list[Any]
    kinds: dict[str, Any]
    largest_gap: None | list[Any]
    op: str
    percent_of_l1: None | float
    residents: list[PeakResident]
    residents_more: NotRequired[int]
    shared: list[PeakShared]
    spike: None | PeakSpike
    t: NotRequired[float]
    tracked_bytes: int
    with_kernels_bytes: int


class PeakResident(TypedDict):
    buffer: None | PeakBuffer
    bytes: int
    cb: None | int
    end: int
    kind: str
    program: None | PeakRun
    start: int


class PeakRow(TypedDict):
    chips: list[int]
    device: None | int
    kind: str
    l1_addresses: str
    l1_buffers_assumed: int
    l1_buffers_unplaced: int
    peak: None | PeakPeak
    registered_core_peak_bytes: None | int


class PeakRun(TypedDict):
    counter: int
    inferred: bool
    op: str
    t: NotRequired[float]


class PeakShared(TypedDict):
    bytes: int
    kinds: list[str]


class PeakSpike(TypedDict):
    freed_counter: int
    freed_t: NotRequired[float]
    new: PeakBuffer
    old: PeakBuffer
    without_bytes: int


class PeakStale(TypedDict):
    buffer: PeakBuffer
    bytes: int
    freed: None | int
    last_use: int
    peak_lower_bytes: None | int
    start: int


class PeakTensor(TypedDict):
    called_at: str
    dtype: str
    freed: None | int
    last_use: None | int
    layout: str
    other_shapes: int
    output_counter: int
    output_of: str
    shape: str


class PeakUntold(TypedDict):
    code: str
    text: str


class Report(TypedDict):
    addresses: str
    anomalies: list[ReportAnomaly]
    basis: ReportBasis
    cache_hits: ReportHits
    checks: ReportChecks
    devices: dict[str, Any]
    earlier_buffers: ReportEarlier
    file: str
    fullest: None | ReportFullest
    l1: list[ReportL1]
    layout: None | ReportLayout
    live_at_end: ReportLive
    mesh_members: dict[str, Any]
    nodes: int
    only: None | ReportOnly
    rank: None | int
    schema: str
    upstream: ReportUpstream


class ReportAnomaly(TypedDict):
    code: str
    count: int
    detail: str
    first_counter: None | int
    t: NotRequired[float]


class ReportBasis(TypedDict):
    arch: str
    arch_from: str
    base_from: str
    cb_align: int
    cb_base: int
    excludes: list[str]
    includes: list[str]
    l1_size_bytes: None | int
    l1_small_bytes: int
    l1_small_from: str
    physical: str


class ReportBuffer(TypedDict):
    address: None | int
    core_max_bytes: None | int
    counter: int
    device: None | int
    kind: str
    layout: str
    op: str
    size_bytes: int
    t: NotRequired[float]
    tensor: None | ReportTensor


class ReportCause(TypedDict):
    code: str
    count: int
    exact_bytes: int
    figure: str
    upstream_bytes: int


class ReportChecks(TypedDict):
    answer: str
    runs: int
    runs_failed: int
    runs_inferred: int
    tightest: None | ReportTightest
    untold: list[str]


class ReportDispatched(TypedDict):
    core_peak_bytes: int
    executions: int
    executions_unknown: int
    final_bytes: int
    peak_bytes: int


class ReportEarlier(TypedDict):
    l1_buffers: int
    l1_bytes: int
    other_buffers: int


class ReportFullest(TypedDict):
    bytes: int
    core: str
    cores: int
    device: str
    end: int
    percent_of_l1: None | float
    program: ReportProgram
    program_bytes: int


class ReportGrowth(TypedDict):
    bytes: int
    cb: int
    kind: str


class ReportHits(TypedDict):
    inferred: int
    unknown: int


class ReportL1(TypedDict):
    backing_allocations: int
    buffers_final: int
    buffers_peak: int
    chips: list[int]
    cols: int
    core_peak: None | ReportL1Peak
    cores: int
    cores_from: str
    device: None | int
    dispatched: None | ReportDispatched
    dram_final_bytes: int
    dram_peak_bytes: int
    kind: str
    l1_addresses: str
    l1_buffers_assumed: int
    l1_buffers_unplaced: int
    l1_final_bytes: int
    l1_peak_bytes: int
    l1_small_final_bytes: int
    l1_small_peak_bytes: int
    rows: int
    tracked_final_bytes: int
    tracked_peak_bytes: int
    usable_peak: None | ReportUsablePeak


class ReportL1Peak(TypedDict):
    below_l1_small_bytes: int
    core: str
    cores: str
    count: int
    counter: int
    highest_gap: None | list[Any]
    kinds: dict[str, Any]
    largest_gap: None | list[Any]
    op: str
    percent_of_l1: None | float
    residents: list[ReportResident]
    residents_more: NotRequired[int]
    shared: list[ReportShared]
    spike: None | ReportSpike
    t: NotRequired[float]
    tracked_bytes: int
    with_kernels_bytes: int


class ReportLayout(TypedDict):
    align: int
    arch: str
    base: int


class ReportLive(TypedDict):
    buffers: int
    dram_bytes: int
    l1_bytes: int
    l1_small_bytes: int
    list: list[ReportBuffer]
    more: int


class ReportOnly(TypedDict):
    core: None | str
    device: None | int
    op: str


class ReportProgram(TypedDict):
    cbs_overlap: bool
    core_max_bytes: int
    cores: int
    first_counter: int
    global_cbs: int
    highest_end: int
    last_counter: int
    local_cbs: int
    logical_bytes: int
    op: str
    resident_bytes: int
    t: NotRequired[float]


class ReportResident(TypedDict):
    buffer: None | ReportBuffer
    bytes: int
    cb: None | int
    end: int
    kind: str
    program: None | ReportRun
    start: int


class ReportRoom(TypedDict):
    cores: str
    count: int
    device: None | int
    devices: int
    free_bytes: int
    largest_gap_bytes: int
    largest_gap_start: int
    region_end: int


class ReportRun(TypedDict):
    counter: int
    inferred: bool
    op: str
    t: NotRequired[float]


class ReportShared(TypedDict):
    bytes: int
    kinds: list[str]


class ReportSpike(TypedDict):
    freed_counter: int
    freed_t: NotRequired[float]
    new: ReportBuffer
    old: ReportBuffer
    without_bytes: int


class ReportTensor(TypedDict):
    called_at: str
    dtype: str
    freed: None | int
    last_use: None | int
    layout: str
    other_shapes: int
    output_counter: int
    output_of: str
    shape: str


class ReportTightest(TypedDict):
    counter: int
    device: None | int
    headroom: ReportRoom
    may_grow: list[ReportGrowth]
    program: ReportRun
    t: NotRequired[float]


class ReportUpstream(TypedDict):
    causes: list[ReportCause]
    peak_cb: None | int
    peak_dataflow_buffer: None | int
    peak_l1: None | int
    peak_scratchpad: None | int
    peak_total: None | int
    wrapped: bool


class ReportUsablePeak(TypedDict):
    below_l1_small_bytes: int
    core: str
    cores: str
    count: int
    counter: int
    op: str
    t: NotRequired[float]
    tracked_bytes: int


class Room(TypedDict):
    accepted: list[RoomUntold]
    answer: str
    basis: RoomBasis
    devices: list[RoomDeviceRoom]
    file: str
    mode: str
    moment: None | RoomMoment
    nodes: int
    rank: None | int
    room: None | RoomRoom
    runs: int
    schema: str
    sharded: None | str
    size_bytes: None | int
    too_tight: list[RoomTight]
    too_tight_more: int
    untold: list[RoomUntold]


class RoomBasis(TypedDict):
    arch: str
    arch_from: str
    base_from: str
    cb_addresses: str
    cb_align: int
    cb_base: int
    earlier_l1_buffers: int
    earlier_l1_bytes: int
    l1_size_bytes: None | int
    l1_small_bytes: int
    l1_small_from: str
    usable_bytes: None | int


class RoomBuffer(TypedDict):
    address: None | int
    core_max_bytes: None | int
    counter: int
    device: None | int
    kind: str
    layout: str
    op: str
    size_bytes: int
    t: NotRequired[float]
    tensor: None | RoomTensor


class RoomDeviceRoom(TypedDict):
    chips: list[None | int]
    device: None | int
    groups: list[RoomRoom]
    kind: str
    mode: str
    room: RoomRoom


class RoomLimit(TypedDict):
    buffer: None | RoomBuffer
    counter: None | int
    program: None | RoomRun
    t: NotRequired[float]


class RoomMoment(TypedDict):
    counter: int
    per_core_bytes: None | int
    program: None | RoomRun
    room: RoomRoom
    runs: int
    t: NotRequired[float]


class RoomRoom(TypedDict):
    above: None | RoomLimit
    below: None | RoomLimit
    bytes: int
    cores: str
    count: int
    end: None | int
    fits_at: None | int
    start: None | int


class RoomRun(TypedDict):
    counter: int
    inferred: bool
    op: str
    t: NotRequired[float]


class RoomTensor(TypedDict):
    called_at: str
    dtype: str
    freed: None | int
    last_use: None | int
    layout: str
    other_shapes: int
    output_counter: int
    output_of: str
    shape: str


class RoomTight(TypedDict):
    bytes: int
    counter: int
    device: None | int
    devices: int
    end: None | int
    program: RoomRun
    start: None | int
    t: NotRequired[float]
    times: int


class RoomUntold(TypedDict):
    code: str
    text: str


class Who(TypedDict):
    address: int
    at: None | int
    basis: WhoBasis
    core: None | str
    device: None | int
    file: str
    held: list[WhoHeld]
    nodes: int
    op: str
    rank: None | int
    schema: str
    untold: list[WhoUntold]


class WhoBasis(TypedDict):
    arch: str
    arch_from: str
    base_from: str
    cb_addresses: str
    cb_align: int
    cb_base: int
    earlier_l1_buffers: int
    earlier_l1_bytes: int
    l1_size_bytes: None | int
    l1_small_bytes: int
    l1_small_from: str
    usable_bytes: None | int


class WhoBuffer(TypedDict):
    address: None | int
    core_max_bytes: None | int
    counter: int
    device: None | int
    kind: str
    layout: str
    op: str
    size_bytes: int
    t: NotRequired[float]
    tensor: None | WhoTensor


class WhoHeld(TypedDict):
    chips: list[int]
    cores: str
    count: int
    device: None | int
    kind: str
    registered: list[WhoResident]
    resident: list[WhoResident]


class WhoResident(TypedDict):
    buffer: None | WhoBuffer
    bytes: int
    cb: None | int
    end: int
    kind: str
    program: None | WhoRun
    start: int


class WhoRun(TypedDict):
    counter: int
    inferred: bool
    op: str
    t: NotRequired[float]


class WhoTensor(TypedDict):
    called_at: str
    dtype: str
    freed: None | int
    last_use: None | int
    layout: str
    other_shapes: int
    output_counter: int
    output_of: str
    shape: str


class WhoUntold(TypedDict):
    code: str
    text: str
