// Reads answers as a host does, for merge_test.go: a line has a key, a number and a tab before the answer. Prints the
// value with that number of that key, as text and as a number, and whether the first one is true.
#include <iostream>

#include "cbl1.hpp"

int main() {
    for (std::string key, nth, line; std::cin >> key >> nth && std::cin.get() && std::getline(std::cin, line);) {
        const cbl1::Answer answer(line);
        const auto n = std::stoul(nth);
        std::cout << answer.num(key.c_str(), n) << ' ' << answer.is(key.c_str()) << ' ' << cbl1::quoted(answer.text(key.c_str(), n)) << '\n';
    }
}
