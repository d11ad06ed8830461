// Calls a listener as tt-metal does, for listener_test.go: listener LOG plays a story, listener LOG N dispatches N times
// and prints a line before its end.
#include <cstdio>
#include <memory>

#include "cbl1_listener.hpp"

using namespace tt::tt_metal;

int main(int argc, char **argv) {
    const auto listener = std::make_shared<cbl1::Listener>(argv[1], R"({"board":"n150"})");
    if (!listener->open()) return 1;
    IGraphProcessor &to = *listener;
    IDevice four(4), five(5);
    distributed::MeshDevice mesh(4, {&four, &five});  // which has the number of a chip
    const CoreRangeSet grid{"{[(x=0,y=0) - (x=7,y=7)]}"}, one{"{[1-0 - 1-0]}"};
    Program matmul, add, move;
    const auto op = [&](const char *name, auto f) {
        to.track_function_start(name, {});
        f();
        to.track_function_end();
    };
    const auto placed = [&](const CoreRangeSet &cores, std::uint64_t size, bool global, const IDevice &d) { to.track_allocate_cb(cores, 103712, size, global, &d); };

    if (argc > 2) {
        op("ttnn::matmul", [&] { to.track_program(&matmul, &mesh), placed(grid, 2048, false, four); });
        for (long n = std::stol(argv[2]); n-- > 0;) op("ttnn::matmul", [&] { to.track_program(&matmul, &mesh); });
        std::puts("did not wait");
        std::fflush(stdout);
        return 0;
    }
    Buffer tensor{BufferType::L1, 1400000, 64 * 4096, &mesh}, weights{BufferType::DRAM, 32, 1 << 20, &four}, unknown{BufferType::L1, 0, 64, &four};
    to.track_allocate(&tensor);
    to.track_allocate(&weights);
    op("ttnn::linear", [&] {
        op("ttnn::matmul", [&] {  // new: its circular buffers follow
            to.track_program(&matmul, &mesh);
            for (const auto *d : {&four, &five}) placed(grid, 4096, false, *d), placed(one, 65536, true, *d);
        });
    });
    op("ttnn::matmul", [&] { to.track_program(&matmul, &mesh); });  // from the cache
    op("ttnn::add", [&] { to.track_program(&add, &five); });        // has run before
    op("ttnn::add", [&] { to.track_program(&add, &five), placed(one, 2048, false, five); });
    to.track_function_start("ttnn::moved", {});
    to.track_program(&matmul, &four);  // another one in its place
    placed(grid, 1 << 20, false, four);
    to.track_function_end(std::any());
    to.track_program(&move, &four), to.track_allocate_cb(one, 0, 64, false, &mesh);  // without dispatch
#ifndef OLD
    to.track_allocate_dataflow_buffer(one, 200000, 64, true, &five);
    to.track_allocate_scratchpad(one, 300000, 64, &five);
#endif
    to.track_deallocate_cb(&five);
    to.track_deallocate(&tensor);
    to.track_deallocate(&unknown);
    to.track_allocate(&weights);  // its end was not told
    to.track_program(&matmul, &four);
}
