// What calls of cbl1.hpp cost: g++ -O2 -std=c++17 -I cpp cpp/testdata/costs.cpp -o costs && ./costs
#include <cstdio>
#include <ctime>
#include <fstream>

#include "cbl1.hpp"

// print prints the nanoseconds of processor time of a call of f, the least of five rounds.
template <class F> void print(const char *what, int calls, F f) {
    double best = 1e18;
    for (int round = 0; round < 5; round++) {
        const auto start = std::clock();
        for (int i = 0; i < calls; i++) f(i);
        best = std::min(best, 1e9 * double(std::clock() - start) / CLOCKS_PER_SEC / calls);
    }
    std::printf("%-64s %9.0f ns\n", what, best);
}

int main() {
    cbl1::Fleet fleet(32, 8, 8);
    std::vector<std::size_t> all(32);
    for (std::size_t d = 0; d < 32; d++) all[d] = d;
    std::vector<cbl1::Program> programs(501);
    for (std::uint64_t i = 0; i < programs.size(); i++) {
        std::vector<cbl1::CB> cbs;
        for (std::uint64_t k = 0; k < 8; k++) {
            const auto x = std::uint8_t((i + k) % 7), y = std::uint8_t(i * k % 7);
            cbs.push_back({{{0, 0, std::uint8_t(x + 1), std::uint8_t(y + 1)}}, {103712 + 4096 * k, 103712 + 4096 * k + 64 * (1 + i % 60)}});
        }
        if (fleet.program(i, cbs, programs[i]) != cbl1::Code::ok) return 1;
        if (i > 0 && fleet.register_on(programs[i], all) != cbl1::Code::ok) return 1;
    }
    std::uint64_t sum = 0;
    const std::vector<std::size_t> one{5};
    print("register again, and the total of one device", 1'000'000, [&](int) {
        fleet.register_on(programs[7], one);
        sum += fleet.totals(5).registered;
    });
    print("register and unregister on 32 devices, beside 500 programs", 1'000, [&](int) {
        fleet.register_on(programs[0], all);
        fleet.unregister(0, all);
    });
    print("enqueue two programs in turn on 32 devices", 1'000, [&](int i) { fleet.enqueue(programs[std::size_t(1 + i % 2)], all); });
    std::ofstream nowhere("/dev/null");
    cbl1::Events events(nowhere);
    print("a line of the log", 100'000, [&](int i) { events("dispatch").num("program", 7).nums("devices", {0, 1}).num("t", std::uint64_t(i)); });
    const std::string line = R"({"answer":"place","buffer":7,"places":[{"devices":[0,1],"parts":[{"cores":"{[0-0 - 7-7]}","address":832000,"size":5}]}]})";
    print("an answer of cbl1 stream", 100'000, [&](int) { sum += cbl1::Answer(line).num("address"); });
    return sum == 0;
}
