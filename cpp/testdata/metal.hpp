// Stand-ins of tt-metal's types for the tests of cbl1_listener.hpp, after published signatures. OLD has those of releases
// before dataflow buffers.
#pragma once
#include <any>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CoreRangeSet {
    std::string text;
    std::string str() const { return text; }
};

namespace tt::tt_metal {

struct IDevice {
    int number;
    explicit IDevice(int n) : number(n) {}
    virtual ~IDevice() = default;
    int id() const { return number; }
};
namespace distributed {
struct MeshDevice : IDevice {
    std::vector<IDevice *> chips;
    MeshDevice(int n, std::vector<IDevice *> c) : IDevice(n), chips(std::move(c)) {}
    std::vector<IDevice *> get_devices() const { return chips; }
};
}  // namespace distributed

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
struct Buffer {
    BufferType type;
    std::uint32_t at;
    std::uint64_t bytes;
    IDevice *on;
    std::uint32_t address() const { return at; }
    std::uint64_t size() const { return bytes; }
    BufferType buffer_type() const { return type; }
    IDevice *device() const { return on; }
#ifndef OLD
    std::uint64_t aligned_size_per_bank() const { return bytes / 64; }
#endif
};
class Program {};

#ifdef OLD
using TrackedArgument = std::any;
#else
struct TrackedArgument {
    std::any value;
};
#endif

struct IGraphProcessor {
    virtual ~IGraphProcessor() = default;
    virtual void track_allocate(const Buffer *) {}
    virtual void track_deallocate(Buffer *) {}
    virtual void track_allocate_cb(const CoreRangeSet &, std::uint64_t, std::uint64_t, bool, const IDevice *) {}
#ifndef OLD
    virtual void track_allocate_dataflow_buffer(const CoreRangeSet &, std::uint64_t, std::uint64_t, bool, const IDevice *) {}
    virtual void track_allocate_scratchpad(const CoreRangeSet &, std::uint64_t, std::uint64_t, const IDevice *) {}
#endif
    virtual void track_deallocate_cb(const IDevice *) {}
    virtual void track_program(Program *, const IDevice *) {}
    virtual void track_function_start(std::string_view, std::span<TrackedArgument>) {}
    virtual void track_function_end() {}
    virtual void track_function_end(const std::any &) {}
};

}  // namespace tt::tt_metal
