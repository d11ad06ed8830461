// Writes the event log of cbl1 (docs/events.md), one event a line. C++17, no dependency.
//
//   cbl1::Events events(std::cout);
//   events("dispatch").num("program", 7).nums("devices", {0, 1}).num("t", clock);
//
// The line is written, and flushed, at the end of the statement.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace cbl1 {
inline std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (unsigned char c : text) {
        if (c == '"' || c == '\\') out += '\\', out += c;
        else if (c < ' ') out += "\\u00", out += "01"[c >> 4], out += "0123456789abcdef"[c & 15];
        else out += c;
    }
    return out + '"';
}
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
struct Events {
    std::ostream &out;
    explicit Events(std::ostream &o) : out(o) { Line(out, "event", "log").num("version", 1); }
    Line operator()(const std::string &event) { return Line(out, "event", event); }
    Line query(const std::string &query) { return Line(out, "query", query); }
};
}  // namespace cbl1
