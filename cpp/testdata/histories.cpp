// Plays histories from standard input and prints what each call returns: merge_test.go compares that with the Go engine.
//
//   fleet DEVICES COLUMNS ROWS                           begins a history
//   program SLOT ID CBS {RECTS {X0 Y0 X1 Y1} START END}  code
//   register SLOT N {DEVICE}, enqueue SLOT N {DEVICE}    code, devices that did not have it, totals of all devices
//   unregister ID N {DEVICE}                             code, 0, totals of all devices
//   core DEVICE X Y                                      bytes and regions
//   end SLOT X Y                                         the highest end of the program
#include <iostream>
#include <memory>

#include "cbl1.hpp"

template <class T> T next() {
    T v{};
    std::cin >> v;
    return v;
}

int main() {
    std::ios::sync_with_stdio(false);
    std::unique_ptr<cbl1::Fleet> fleet;
    std::vector<cbl1::Program> slots;
    auto list = [] {
        std::vector<std::size_t> out(next<std::size_t>());
        for (auto &d : out) d = next<std::size_t>();
        return out;
    };
    auto print = [&](cbl1::Code code, std::size_t fresh) {
        std::cout << int(code) << ' ' << fresh;
        for (std::size_t d = 0; d < fleet->devices(); d++) {
            const auto t = fleet->totals(d);
            std::cout << ' ' << t.registered << ' ' << t.resident << ' ' << t.logical;
        }
        std::cout << '\n';
    };
    for (std::string word; std::cin >> word;) {
        if (word == "fleet") {
            const auto devices = next<std::size_t>();
            const auto columns = next<unsigned>(), rows = next<unsigned>();
            fleet = std::make_unique<cbl1::Fleet>(devices, columns, rows);
            slots.assign(64, cbl1::Program());
        } else if (word == "program") {
            const auto slot = next<std::size_t>();
            const auto id = next<std::uint64_t>();
            std::vector<cbl1::CB> cbs(next<std::size_t>());
            for (auto &cb : cbs) {
                cb.cores.resize(next<std::size_t>());
                for (auto &r : cb.cores)
                    for (auto *v : {&r.x0, &r.y0, &r.x1, &r.y1}) *v = std::uint8_t(next<unsigned>());
                cb.range.start = next<std::uint64_t>();
                cb.range.end = next<std::uint64_t>();
            }
            std::cout << int(fleet->program(id, cbs, slots[slot])) << '\n';
        } else if (word == "register" || word == "enqueue") {
            const auto &p = slots[next<std::size_t>()];
            const auto devices = list();
            std::size_t fresh = 0;
            const auto code = word == "register" ? fleet->register_on(p, devices, &fresh) : fleet->enqueue(p, devices, &fresh);
            print(code, fresh);
        } else if (word == "unregister") {
            const auto id = next<std::uint64_t>();
            print(fleet->unregister(id, list()), 0);
        } else if (word == "core") {
            const auto d = next<std::size_t>();
            const auto x = next<unsigned>(), y = next<unsigned>();
            const auto *core = fleet->core(d, x, y);
            std::cout << (core ? core->bytes() : 0);
            if (core)
                for (auto r : core->regions()) std::cout << ' ' << r.start << '-' << r.end;
            std::cout << '\n';
        } else if (word == "end") {
            const auto slot = next<std::size_t>();
            const auto x = next<unsigned>(), y = next<unsigned>();
            std::cout << slots[slot].end(x, y) << '\n';
        } else {
            return 1;
        }
    }
}
