// Circular buffers (CBs) in L1, for C++ hosts: simulators, runtimes, tests. C++17, one file, the standard library.
//
// Events writes the event log of cbl1 (docs/events.md), which the command answers about, and Answer reads an answer. Fleet
// merges the CB ranges of programs on each core of each device, as the Go engine does: the union, and not the sum. It
// knows no placement rule, no tensors and no advice; for these there is the log.
//
// Nothing here throws, starts a thread or has a global. A Fleet belongs to one thread, or to one lock of its host.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cbl1 {

// --- The event log ---------------------------------------------------------------------------------------------------

inline std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (unsigned char c : text) {
        if (c == '"' || c == '\\') out += '\\', out += char(c);
        else if (c < ' ') out += "\\u00", out += "01"[c >> 4], out += "0123456789abcdef"[c & 15];
        else out += char(c);
    }
    return out + '"';
}

// A Line is one event. It is written, and flushed, at the end of the statement.
class Line {
    std::ostream &out;
    std::string line;

public:
    Line(std::ostream &o, const char *key, const std::string &name) : out(o), line('{' + quoted(key) + ':' + quoted(name)) {}
    Line(const Line &) = delete;
    ~Line() { out << line << "}\n" << std::flush; }
    Line &json(const char *key, const std::string &value) { line += ',' + quoted(key) + ':' + value; return *this; }
    Line &text(const char *key, const std::string &value) { return json(key, quoted(value)); }
    Line &num(const char *key, std::uint64_t value) { return json(key, std::to_string(value)); }
    Line &nums(const char *key, const std::vector<std::uint64_t> &values) {
        std::string list;
        for (auto v : values) list += (list.empty() ? "" : ",") + std::to_string(v);
        return json(key, '[' + list + ']');
    }
};

// Events writes an event log to a stream: a file, a FIFO, a pipe.
//
//   cbl1::Events events(std::cout);
//   events("dispatch").num("program", 7).nums("devices", {0, 1}).num("t", clock);
struct Events {
    std::ostream &out;
    explicit Events(std::ostream &o) : out(o) { Line(out, "event", "log").num("version", 1); }
    Line operator()(const std::string &event) { return Line(out, "event", event); }
    Line query(const std::string &query) { return Line(out, "query", query); }
};

// An Answer is a line that "cbl1 stream" writes: text("answer") is the name of the query, "error" or "anomaly". A key is
// found in any depth; where a line has several values of it, as in a list, nth is the one that is wanted, from 0.
//
//   cbl1::Answer place(line);  // {"answer":"place","buffer":7,"places":[{"devices":[0],"parts":[{"cores":...
//   if (place.text("answer") == "place") address = place.num("address");
class Answer {
    std::vector<std::pair<std::string, std::string>> values;  // a key, and a value that is no object and no list

    const std::string *find(const char *key, std::size_t nth) const {
        for (const auto &v : values)
            if (v.first == key && nth-- == 0) return &v.second;
        return nullptr;
    }
    // unquote reads a string of JSON from the byte behind its quote on, and moves at behind its end.
    static std::string unquote(const std::string &line, std::size_t &at) {
        std::string out;
        const auto hex = [&] { at += 4; return std::strtoul(line.substr(std::min(at - 3, line.size()), 4).c_str(), nullptr, 16); };
        for (; at < line.size() && line[at] != '"'; at++) {
            if (line[at] != '\\' || ++at == line.size()) { out += line[at]; continue; }
            unsigned long c = (unsigned char)line[at];
            if (const char *name = std::strchr("b\bf\fn\nr\rt\t", int(c)); name && c) c = (unsigned char)name[1];
            if (c == 'u' && (c = hex()) >> 10 == 0x36) at += 2, c = 0x10000 + ((c & 1023) << 10 | (hex() & 1023));
            const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
            out += char((unsigned char)"\0\xC0\xE0\xF0"[more] | c >> 6 * more);
            for (int i = more; i-- > 0;) out += char(0x80 | (c >> 6 * i & 63));
        }
        at++;
        return out;
    }

public:
    explicit Answer(const std::string &line) {
        std::string key;
        for (std::size_t at = 0; at < line.size();) {
            if (std::strchr("{}[],:\r\n", line[at++])) continue;
            if (line[at - 1] != '"') {
                const std::size_t start = at - 1;
                values.push_back({key, line.substr(start, (at = std::min(line.find_first_of(",]}", at), line.size())) - start)});
            } else if (std::string text = unquote(line, at); at < line.size() && line[at] == ':') key = text;
            else values.push_back({key, text});
        }
    }
    // text returns a value, "" if there is none.
    std::string text(const char *key, std::size_t nth = 0) const { const auto *v = find(key, nth); return v ? *v : ""; }
    // num returns a number, 0 if there is none.
    std::uint64_t num(const char *key, std::size_t nth = 0) const { return std::strtoull(text(key, nth).c_str(), nullptr, 10); }
    bool is(const char *key) const { return text(key) == "true"; }
};

// --- The merge -------------------------------------------------------------------------------------------------------

// A Code is the result of a call. A call that returns another one than ok has changed nothing.
enum class Code {
    ok,
    no_device,       // a device that the fleet does not have
    device_twice,    // a list names a device twice
    outside_grid,    // a rectangle is reversed, or has a core outside the grid
    bad_range,       // a range is upside down or ends beyond 2^63-1
    id_taken,        // the id is registered with other ranges, on any device
    not_registered,  // a device does not have the program
    overflow,        // bytes of a device would exceed 2^63-1
};

constexpr std::uint64_t most = (std::uint64_t(1) << 63) - 1;

// A Range is the bytes [start, end).
struct Range {
    std::uint64_t start, end;
};
inline bool operator==(Range a, Range b) { return a.start == b.start && a.end == b.end; }

// A Rect is the cores from x0-y0 to x1-y1, both included: logical coordinates.
struct Rect {
    std::uint8_t x0, y0, x1, y1;
};

// A CB is a range on cores. A core that is named twice counts once. An empty range takes nothing.
struct CB {
    std::vector<Rect> cores;
    Range range;
};

// A Coverage counts the ranges of one core and knows the bytes of their union. A change costs O(boundaries).
class Coverage {
    struct Step {
        std::uint64_t at;
        std::uint32_t count;  // of the ranges from here to the next step; the last has 0
    };
    std::vector<Step> steps;
    std::uint64_t covered = 0;

    std::size_t split(std::uint64_t at) {
        auto i = std::lower_bound(steps.begin(), steps.end(), at, [](const Step &s, std::uint64_t a) { return s.at < a; });
        if (i == steps.end() || i->at != at) i = steps.insert(i, {at, i == steps.begin() ? 0 : std::prev(i)->count});
        return std::size_t(i - steps.begin());
    }
    // change counts a range once more or once less and returns the bytes that are covered now and were not, or the
    // other way round.
    std::uint64_t change(Range r, int by) {
        if (r.start == r.end) return 0;
        const std::size_t first = split(r.start), last = split(r.end);
        std::uint64_t moved = 0;
        for (std::size_t i = first; i < last; i++) {
            const bool was = steps[i].count != 0;
            steps[i].count += std::uint32_t(by);
            if (was != (steps[i].count != 0)) moved += steps[i + 1].at - steps[i].at;
        }
        // Steps at which the number does not change any more go.
        std::uint32_t before = first ? steps[first - 1].count : 0;
        std::size_t kept = first;
        for (std::size_t i = first; i <= last; i++) {
            if (steps[i].count == before) continue;
            before = steps[i].count;
            steps[kept++] = steps[i];
        }
        steps.erase(steps.begin() + std::ptrdiff_t(kept), steps.begin() + std::ptrdiff_t(last) + 1);
        return moved;
    }

public:
    std::uint64_t add(Range r) {
        const auto grew = change(r, 1);
        covered += grew;
        return grew;
    }
    std::uint64_t remove(Range r) {
        const auto freed = change(r, -1);
        covered -= freed;
        return freed;
    }
    std::uint64_t bytes() const { return covered; }
    // regions returns the merged ranges, lowest first.
    std::vector<Range> regions() const {
        std::vector<Range> out;
        for (std::size_t i = 0; i + 1 < steps.size(); i++) {
            if (!steps[i].count) continue;
            if (!out.empty() && out.back().end == steps[i].at) out.back().end = steps[i + 1].at;
            else out.push_back({steps[i].at, steps[i + 1].at});
        }
        return out;
    }
};

// A Program is an id and the ranges of its CBs on each core. It never changes; copies share the ranges. Fleet::program
// makes it.
class Program {
    friend class Fleet;
    struct Group {  // cores that are alike
        std::vector<std::uint32_t> cores;
        std::vector<Range> ranges;  // merged
        std::uint64_t bytes = 0, logical = 0;
    };
    struct Footprint {
        std::vector<Group> groups;
        std::vector<std::uint32_t> of;  // the group of each core and 1, or 0
        std::uint64_t cols = 0, bytes = 0, logical = 0;
    };
    std::uint64_t number = 0;
    std::shared_ptr<const Footprint> print;

    const Group *at(std::size_t core) const { return print->of[core] ? &print->groups[print->of[core] - 1] : nullptr; }
    // same reports whether both count the same on each core, however it is cut into CBs.
    bool same(const Program &o) const {
        if (print == o.print) return true;
        for (std::size_t core = 0; core < print->of.size(); core++) {
            const Group *a = at(core), *b = o.at(core);
            if (!a != !b || (a && (a->logical != b->logical || a->ranges != b->ranges))) return false;
        }
        return true;
    }

public:
    std::uint64_t id() const { return number; }
    // end returns the highest end of a CB on a core, 0 if there is none.
    std::uint64_t end(unsigned x, unsigned y) const {
        const std::uint64_t core = y * (print ? print->cols : 0) + x;
        if (!print || x >= print->cols || core >= print->of.size() || !at(core)) return 0;
        const auto &ranges = at(core)->ranges;
        return ranges.empty() ? 0 : ranges.back().end;
    }
};

// Totals are bytes of a device, summed over its cores.
struct Totals {
    std::uint64_t registered = 0;  // the union of the registered programs
    std::uint64_t resident = 0;    // what the last enqueued program left on each core
    std::uint64_t logical = 0;     // the sum of the registered programs
};

// A Fleet has devices of one grid, by the numbers 0, 1 and so on. A device counts a program once, however often it is
// registered. Devices with the same past share a state, which is copied where they part.
class Fleet {
    using Footprint = Program::Footprint;
    using Group = Program::Group;
    struct State {
        std::vector<Coverage> cores;
        std::unordered_map<std::uint64_t, std::shared_ptr<const Footprint>> programs;
        std::vector<std::pair<std::shared_ptr<const Footprint>, const Group *>> left;  // on each core
        Totals totals;
    };
    struct Registered {
        Program program;
        std::size_t devices;
    };
    unsigned cols, rows;
    std::vector<std::shared_ptr<State>> states;  // of the devices
    std::unordered_map<std::uint64_t, Registered> programs;
    std::vector<std::uint64_t> named;  // the last list that named each device
    std::uint64_t lists = 0;

    Code check(const std::vector<std::size_t> &devices) {
        lists++;
        for (auto d : devices) {
            if (d >= states.size()) return Code::no_device;
            if (named[d] == lists) return Code::device_twice;
            named[d] = lists;
        }
        return Code::ok;
    }
    bool has(std::size_t device, std::uint64_t id) const { return states[device]->programs.count(id) != 0; }

    // change calls f once for each state of the devices that is wanted. The state is of no other devices then: it is copied
    // if it was. f changes it so that it is wanted no more.
    template <class Wanted, class F> void change(const std::vector<std::size_t> &devices, Wanted wanted, F f) {
        for (std::size_t i = 0; i < devices.size(); i++) {
            const std::shared_ptr<State> was = states[devices[i]];
            if (!wanted(*was)) continue;
            long n = 0;
            for (std::size_t k = i; k < devices.size(); k++) n += states[devices[k]] == was;
            const auto now = n + 1 == was.use_count() ? was : std::make_shared<State>(*was);
            if (now != was)
                for (std::size_t k = i; k < devices.size(); k++)
                    if (states[devices[k]] == was) states[devices[k]] = now;
            f(*now);
        }
    }

public:
    Fleet(std::size_t devices, unsigned columns, unsigned rows_) : cols(columns), rows(rows_), named(devices, 0) {
        const auto empty = std::make_shared<State>();
        empty->cores.resize(std::size_t(cols) * rows);
        empty->left.resize(std::size_t(cols) * rows);
        states.assign(devices, empty);
    }
    std::size_t devices() const { return states.size(); }

    // program makes a program. Cost: O(cores x CBs).
    Code program(std::uint64_t id, const std::vector<CB> &cbs, Program &out) const {
        std::vector<std::vector<std::uint32_t>> on(std::size_t(cols) * rows);  // the CBs of each core
        for (std::uint32_t i = 0; i < cbs.size(); i++) {
            if (cbs[i].range.start > cbs[i].range.end || cbs[i].range.end > most) return Code::bad_range;
            for (Rect r : cbs[i].cores) {
                if (r.x0 > r.x1 || r.y0 > r.y1 || r.x1 >= cols || r.y1 >= rows) return Code::outside_grid;
                for (unsigned y = r.y0; y <= r.y1; y++)
                    for (unsigned x = r.x0; x <= r.x1; x++) {
                        auto &list = on[std::size_t(y) * cols + x];
                        if (list.empty() || list.back() != i) list.push_back(i);
                    }
            }
        }
        auto made = std::make_shared<Footprint>();
        made->cols = cols;
        made->of.resize(on.size());
        for (std::uint32_t core = 0; core < on.size(); core++) {
            if (on[core].empty()) continue;
            std::size_t g = 0;
            while (g < made->groups.size() && on[made->groups[g].cores[0]] != on[core]) g++;
            if (g == made->groups.size()) {
                Group group;
                Coverage merged;
                for (auto i : on[core]) {
                    const auto size = cbs[i].range.end - cbs[i].range.start;
                    if (size > most - group.logical) return Code::overflow;
                    group.logical += size;
                    merged.add(cbs[i].range);
                }
                group.ranges = merged.regions();
                group.bytes = merged.bytes();
                made->groups.push_back(std::move(group));
            }
            auto &group = made->groups[g];
            if (group.logical > most - made->logical) return Code::overflow;
            made->logical += group.logical;
            made->bytes += group.bytes;
            group.cores.push_back(core);
            made->of[core] = std::uint32_t(g) + 1;
        }
        out.number = id;
        out.print = std::move(made);
        return Code::ok;
    }

    // register_on counts a program on the devices that do not have it: on all or on none. fresh is how many these are.
    // Cost: O(devices) where all have it; else for each state O(ranges x boundaries), and a copy where it is shared.
    Code register_on(const Program &p, const std::vector<std::size_t> &devices, std::size_t *fresh = nullptr) {
        if (fresh) *fresh = 0;
        const Code code = admits(p, devices);
        if (code == Code::ok) install(p, devices, fresh);
        return code;
    }

    // unregister takes a program off devices, which all must have it.
    Code unregister(std::uint64_t id, const std::vector<std::size_t> &devices) {
        if (const Code code = check(devices); code != Code::ok) return code;
        for (auto d : devices)
            if (!has(d, id)) return Code::not_registered;
        if (devices.empty()) return Code::ok;
        change(devices, [&](const State &s) { return s.programs.count(id) != 0; }, [&](State &s) {
            const auto at = s.programs.find(id);
            for (const auto &g : at->second->groups)
                for (auto core : g.cores)
                    for (auto r : g.ranges) s.totals.registered -= s.cores[core].remove(r);
            s.totals.logical -= at->second->logical;
            s.programs.erase(at);
        });
        const auto at = programs.find(id);
        if (at->second.devices -= devices.size(); at->second.devices == 0) programs.erase(at);
        return Code::ok;
    }

    // enqueue registers a program where it is new, and leaves its ranges as the resident bytes of its cores. Other cores
    // keep theirs, and all stay when the program is unregistered.
    Code enqueue(const Program &p, const std::vector<std::size_t> &devices, std::size_t *fresh = nullptr) {
        if (fresh) *fresh = 0;
        if (const Code code = admits(p, devices); code != Code::ok) return code;
        for (auto d : devices)
            if (p.print->bytes > most - states[d]->totals.resident && p.print->bytes > most - kept(*states[d], p)) return Code::overflow;
        install(p, devices, fresh);
        change(devices, [&](const State &s) { return !left_by(s, p); }, [&](State &s) {
            for (const auto &g : p.print->groups)
                for (auto core : g.cores) {
                    auto &left = s.left[core];
                    s.totals.resident += g.bytes - (left.second ? left.second->bytes : 0);
                    left = {p.print, &g};
                }
        });
        return Code::ok;
    }

    // totals returns the bytes of a device, zeros of one that there is not. It computes nothing.
    Totals totals(std::size_t device) const { return device < states.size() ? states[device]->totals : Totals(); }
    // core returns the registered bytes and regions of a core, nullptr if there is none.
    const Coverage *core(std::size_t device, unsigned x, unsigned y) const {
        if (device >= states.size() || x >= cols || y >= rows) return nullptr;
        return &states[device]->cores[std::size_t(y) * cols + x];
    }

private:
    static bool left_by(const State &s, const Program &p) {
        for (const auto &g : p.print->groups)
            for (auto core : g.cores)
                if (s.left[core].second != &g) return false;
        return true;
    }

    // kept returns the resident bytes on other cores than those of a program.
    static std::uint64_t kept(const State &s, const Program &p) {
        std::uint64_t bytes = s.totals.resident;
        for (const auto &g : p.print->groups)
            for (auto core : g.cores)
                if (s.left[core].second) bytes -= s.left[core].second->bytes;
        return bytes;
    }

    Code admits(const Program &p, const std::vector<std::size_t> &devices) {
        if (!p.print) return Code::not_registered;  // nobody made it
        if (p.print->of.size() != std::size_t(cols) * rows || p.print->cols != cols) return Code::outside_grid;
        if (const Code code = check(devices); code != Code::ok || devices.empty()) return code;
        if (const auto known = programs.find(p.number); known != programs.end() && !known->second.program.same(p)) return Code::id_taken;
        for (auto d : devices)
            if (!has(d, p.number) && p.print->logical > most - states[d]->totals.logical) return Code::overflow;
        return Code::ok;
    }

    void install(const Program &p, const std::vector<std::size_t> &devices, std::size_t *fresh) {
        std::size_t n = 0;
        for (auto d : devices) n += !has(d, p.number);
        if (n == 0) return;
        change(devices, [&](const State &s) { return s.programs.count(p.number) == 0; }, [&](State &s) {
            for (const auto &g : p.print->groups)
                for (auto core : g.cores)
                    for (auto r : g.ranges) s.totals.registered += s.cores[core].add(r);
            s.totals.logical += p.print->logical;
            s.programs.emplace(p.number, p.print);
        });
        programs.emplace(p.number, Registered{p, 0}).first->second.devices += n;
        if (fresh) *fresh = n;
    }
};

}  // namespace cbl1
