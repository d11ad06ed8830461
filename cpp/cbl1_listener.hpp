// A listener inside tt-metal: it writes the event log of cbl1 (docs/events.md) while a program runs, with every dispatch,
// also of programs from the cache. C++20, Linux and macOS. Compile it against the headers of the tt-metal that it runs in.
//
//   auto listener = std::make_shared<cbl1::Listener>("run.jsonl", R"({"board":"n150"})");
//   tt::tt_metal::GraphTracker::instance().push_processor(listener);   // on the thread that dispatches
//   ...
//   tt::tt_metal::GraphTracker::instance().pop_processor();            // before devices are closed
//
// It was written after published signatures and has not met the real headers: its tests have stand-ins of them.
//
// - Push it before programs run and tensors live. A program that ran before shows no circular buffers, and is written as
//   hidden. A buffer from before is not in the log. A program that ran stays registered to the end, as in a capture.
// - A graph capture takes the last processor off the stack: push before it begins and pop after it has ended.
// - The path may be a FIFO, which "cbl1 stream" or "cbl1 check" reads. A dispatch never waits for the reader: lines for
//   which the pipe and 1 MiB behind it have no room are dropped, each as a whole, and an event "hidden" counts them. A
//   reader that stops for a second at the end misses the rest.
// - tt-metal does not report dataflow buffers of real runs: such a program is hidden, too.
// - An L1 buffer counts on all cores: in lockstep its address is taken on all of them. The log does not know per-core
//   allocation.
#pragma once
#if __has_include(<tt-metalium/graph_tracking.hpp>)
#include <tt-metalium/graph_tracking.hpp>
#elif __has_include(<tt-metalium/internal/graph_tracking.hpp>)
#include <tt-metalium/internal/graph_tracking.hpp>
#elif __has_include(<tt-metalium/experimental/graph_tracking.hpp>)
#include <tt-metalium/experimental/graph_tracking.hpp>
#else
#error "cbl1_listener.hpp needs graph_tracking.hpp of tt-metal"
#endif
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_device.hpp>

#include <any>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "cbl1.hpp"

namespace cbl1 {

// An Outlet writes whole lines to a file or a FIFO and never waits for a reader.
class Outlet {
    static constexpr std::size_t most = 1 << 20;  // bytes that wait
    int fd;
    std::string waiting;
    std::uint64_t dropped = 0;

    void push() {
        while (fd >= 0 && !waiting.empty()) {
            const auto n = ::write(fd, waiting.data(), waiting.size());
            if (n > 0) waiting.erase(0, std::size_t(n));
            else if (n == 0 || errno != EINTR) return;
        }
    }
    // note writes how many lines were dropped.
    void note() {
        if (dropped) waiting += R"({"event":"hidden","code":"not-recorded","count":)" + std::to_string(dropped) + "}\n";
        dropped = 0;
    }

public:
    // A FIFO is opened for reading too: it needs no reader then, and one that goes away is no signal.
    explicit Outlet(const std::string &path)
        : fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644)) {}
    Outlet(const Outlet &) = delete;
    // The end waits while a reader reads, and a second for one that does not.
    ~Outlet() {
        note();
        for (pollfd p{fd, POLLOUT, 0}; fd >= 0 && (push(), !waiting.empty()) && ::poll(&p, 1, 1000) > 0;) {}
        if (fd >= 0) ::close(fd);
    }
    bool open() const { return fd >= 0; }
    void lines(const std::string &text) {
        push();
        for (std::size_t at = 0, end; at < text.size(); at = end) {
            end = text.find('\n', at) + 1;
            if (waiting.size() + (end - at) > most) { dropped++; continue; }
            note();
            waiting.append(text, at, end - at);
        }
        push();
    }
};

// A Recorder turns calls into lines. The CBs of a new program are reported one by one after its dispatch and do not name
// it: a dispatch is written with the next other call of its thread. New programs that are dispatched together share them.
class Recorder {
    using Chips = std::set<std::uint64_t>;
    struct Dispatch {
        const void *program;
        Chips chips;
        std::string op;
    };
    struct Thread {
        std::vector<std::string> ops;
        std::vector<Dispatch> dispatched;             // and not written
        std::map<std::uint64_t, std::string> placed;  // their CBs, by chip
    };
    std::mutex mutex;
    Outlet out;
    std::ostringstream text;  // lines that have not left
    Events events;
    const std::string spec;
    Chips known;
    std::uint64_t runs = 0, programs = 0, buffers = 0;
    std::map<std::thread::id, Thread> threads;
    std::map<const void *, std::pair<std::uint64_t, Chips>> live;        // buffers
    std::map<const void *, std::map<std::uint64_t, std::uint64_t>> ran;  // our program on each chip, by tt-metal's

    static std::string list(const Chips &chips, const std::string &each = "", const std::string &behind = "") {
        std::string all;
        for (auto c : chips) all += (all.empty() ? "" : ",") + each + std::to_string(c) + behind;
        return '[' + all + ']';
    }
    // settle writes what a thread has dispatched.
    void settle(Thread &t) {
        std::vector<const void *> owners;  // of the CBs: the programs that are new
        for (const auto &d : t.dispatched)
            if (!ran.count(d.program)) owners.push_back(d.program);
        if (!t.placed.empty() && owners.empty())  // new ones where old ones were
            for (const auto &d : t.dispatched) ran.erase(d.program), owners.push_back(d.program);
        std::map<std::string, std::uint64_t> made;
        for (const auto &[chip, cbs] : t.placed) {
            const auto [at, fresh] = made.try_emplace(cbs, programs);
            if (fresh) events("program").num("program", programs++).json("cbs", '[' + cbs + ']');
            for (auto p : owners) ran[p][chip] = at->second;
        }
        for (const auto &d : t.dispatched) {
            std::map<std::uint64_t, Chips> on;
            for (auto [chip, id] : ran[d.program]) on[id].insert(chip);
            if (on.empty()) {
                ran.erase(d.program);
                events("hidden").text("code", "not-shown").text("op", d.op).json("devices", list(d.chips));
            }
            const auto n = std::to_string(runs++), behind = R"(,"first":)" + n + R"(,"last":)" + n + '}';
            for (const auto &[id, chips] : on)
                events("run").num("program", id).text("op", d.op).json("on", list(chips, R"({"device":)", behind));
        }
        t.dispatched.clear();
        t.placed.clear();
    }
    // write writes the devices that are new, what a thread has dispatched, and what f writes.
    template <class F> void write(const Chips &chips, bool settled, F f) {
        const std::lock_guard<std::mutex> lock(mutex);
        for (auto c : chips)
            if (known.insert(c).second) events("device").num("device", c).json("spec", spec);
        Thread &t = threads[std::this_thread::get_id()];
        if (settled) settle(t);
        f(t);
        out.lines(text.str());
        text.str("");
    }
    void end(const void *buffer) {
        const auto at = live.find(buffer);
        if (at == live.end()) return;
        events("free").num("buffer", at->second.first).json("devices", list(at->second.second));
        live.erase(at);
    }
    static std::string op(const Thread &t) {
        std::string all;
        for (const auto &name : t.ops) all += (all.empty() ? "" : " > ") + name;
        return all;
    }

protected:
    void start(std::string_view name) {
        write({}, true, [&](Thread &t) { t.ops.emplace_back(name); });
    }
    void end() {
        write({}, true, [&](Thread &t) { if (!t.ops.empty()) t.ops.pop_back(); });
    }
    void dispatch(const void *program, const Chips &chips) {
        write(chips, false, [&](Thread &t) {
            if (!t.placed.empty()) settle(t);
            t.dispatched.push_back({program, chips, op(t)});
        });
    }
    void place(const char *kind, const std::string &cores, std::uint64_t address, std::uint64_t size, bool borrowed,
               const Chips &chips) {
        std::string cb = R"({"kind":)" + quoted(kind) + R"(,"cores":)" + quoted(cores);
        cb += R"(,"size":)" + std::to_string(size);
        if (address) cb += R"(,"address":)" + std::to_string(address);  // without dispatch there is none
        cb += borrowed ? R"(,"global":true})" : "}";
        write(chips, false, [&](Thread &t) {
            for (auto c : chips) t.placed[c] += (t.placed[c].empty() ? "" : ",") + cb;
        });
    }
    void freed(const Chips &chips) {
        write(chips, true, [&](Thread &) { events("cbs_freed").json("devices", list(chips)); });
    }
    void free(const void *buffer) {
        write({}, true, [&](Thread &) { end(buffer); });
    }
    // allocate writes a buffer: each is its bytes on a core, 0 if they are not known.
    void allocate(const void *buffer, const char *kind, std::uint64_t address, std::uint64_t size, std::uint64_t each,
                  const Chips &chips) {
        write(chips, true, [&](Thread &t) {
            end(buffer);  // if tt-metal has not told
            live[buffer] = {buffers, chips};
            Line line = events("allocate");
            line.num("buffer", buffers++).text("kind", kind).text("name", op(t));
            line.json("devices", list(chips)).num("size", size);
            if (std::string_view(kind).substr(0, 2) != "l1") return;
            const auto at = std::to_string(address), bytes = std::to_string(each);
            line.json("parts", R"([{"address":)" + at + R"(,"size":)" + bytes + "}]").text("cores_from", "assumed");
            if (!each) line.json("unsized", "true");
        });
    }

public:
    Recorder(const std::string &path, const std::string &device) : out(path), events(text), spec(device) {}
    ~Recorder() {
        for (auto &[id, t] : threads) settle(t);
        out.lines(text.str());
    }
    // open reports whether the log could be opened.
    bool open() const { return out.open(); }
};

// chips_of returns the chips of a device: a mesh has a number of its own.
using Device = const tt::tt_metal::IDevice *;
inline std::set<std::uint64_t> chips_of(Device device) {
    std::set<std::uint64_t> chips;
    if (const auto *mesh = dynamic_cast<const tt::tt_metal::distributed::MeshDevice *>(device))
        for (const auto *d : mesh->get_devices()) chips.insert(std::uint64_t(d->id()));
    else if (device) chips.insert(std::uint64_t(device->id()));
    return chips;
}

// size_on_core returns the bytes of a buffer on a core, 0 in releases that do not say.
template <class Buffer> std::uint64_t size_on_core(const Buffer *b) {
    if constexpr (requires { b->aligned_size_per_bank(); }) return b->aligned_size_per_bank();
    return 0;
}

// Heard has the calls that all releases have, from those with devices on.
template <class Base> class Heard : public Base, public Recorder {
    template <class C, class S> static S arguments(void (C::*)(std::string_view, S));  // two kinds of span

public:
    Heard(const std::string &path, const std::string &spec) : Recorder(path, spec) {}
    using Arguments = decltype(arguments(&Base::track_function_start));
    void track_function_start(std::string_view name, Arguments) override { start(name); }
    void track_function_end() override { end(); }
    void track_function_end(const std::any &) override { end(); }
    void track_program(tt::tt_metal::Program *p, Device device) override { dispatch(p, chips_of(device)); }
    void track_allocate_cb(const CoreRangeSet &cores, std::uint64_t address, std::uint64_t size, bool global,
                           Device device) override {
        place("cb", cores.str(), address, size, global, chips_of(device));
    }
    void track_deallocate_cb(Device device) override { freed(chips_of(device)); }
    void track_allocate(const tt::tt_metal::Buffer *b) override {
        using Type = tt::tt_metal::BufferType;
        const auto type = b->buffer_type();
        const char *kind = type == Type::L1         ? "l1"
                           : type == Type::L1_SMALL ? "l1_small"
                           : type == Type::DRAM     ? "dram"
                           : type == Type::TRACE    ? "trace"
                                                    : "system";
        allocate(b, kind, b->address(), b->size(), size_on_core(b), chips_of(b->device()));
    }
    void track_deallocate(tt::tt_metal::Buffer *b) override { free(b); }
};

// Calls that some releases have.
template <class Base> struct WithDataflow : Base { using Base::Base; };
template <class Base> requires requires { &Base::track_allocate_dataflow_buffer; }
struct WithDataflow<Base> : Base {
    using Base::Base;
    void track_allocate_dataflow_buffer(const CoreRangeSet &cores, std::uint64_t address, std::uint64_t size, bool borrows,
                                        Device device) override {
        this->place("dataflow", cores.str(), address, size, borrows, chips_of(device));
    }
};
template <class Base> struct WithScratchpad : Base { using Base::Base; };
template <class Base> requires requires { &Base::track_allocate_scratchpad; }
struct WithScratchpad<Base> : Base {
    using Base::Base;
    void track_allocate_scratchpad(const CoreRangeSet &cores, std::uint64_t address, std::uint64_t size,
                                   Device device) override {
        this->place("scratchpad", cores.str(), address, size, false, chips_of(device));
    }
};

using Listener = WithScratchpad<WithDataflow<Heard<tt::tt_metal::IGraphProcessor>>>;

}  // namespace cbl1
