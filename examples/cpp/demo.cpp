// Writes examples/events.jsonl: g++ -std=c++17 demo.cpp -o demo && ./demo | cbl1 stream
#include <iostream>

#include "../../cpp/cbl1.hpp"

int main() {
    cbl1::Events events(std::cout);
    events("device").num("device", 0).json("spec", R"({"board":"p150b"})");
    events("op_start").text("name", "ttnn.matmul").num("t", 1000);
    events("program").num("program", 1).text("name", "matmul, 1 of 2").json("cbs",
        R"([{"cores":"[0-0 - 7-7]","size":131072,"indices":[{"index":0,"page_size":2048}]},{"cores":"[0-0 - 7-7]","size":524288}])");
    events("enqueue").num("program", 1).nums("devices", {0}).num("t", 1010);
    events("op_end").num("t", 1500);
    events.query("totals").num("device", 0).num("id", 1);
    events("allocate").num("buffer", 1).text("kind", "l1").text("name", "a \"large\" tensor").nums("devices", {0})
        .json("parts", R"([{"address":704512,"size":868352}])").num("t", 1600);
    events("enqueue").num("program", 1).nums("devices", {0}).num("t", 1700);
    events.query("headroom").num("program", 1).nums("devices", {0}).num("id", 2);
    events.query("who").num("device", 0).text("core", "7-7").num("address", 704512).num("id", 3);
    events("free").num("buffer", 1).num("t", 1800);
    events("enqueue").num("program", 1).nums("devices", {0}).num("t", 1900);
    events.query("anomalies").num("id", 4);
}
