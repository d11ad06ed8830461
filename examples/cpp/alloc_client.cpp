// A client of an allocation server (tool/docs/serve.md), and what it is like to use it: records of
// 144 bytes over a Unix socket. C++17, Linux, nothing else.
//
//   g++ -std=c++17 -o alloc_client alloc_client.cpp && ./alloc_client SOCKET

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cbl1 {

enum class Type : uint8_t {
  kAlloc = 1, kFree, kQuery, kResponse, kDumpRemaining, kDeviceQuery, kDeviceInfo, kCBAlloc, kCBFree, kKernelLoad, kKernelUnload, kDumpKernels
};
enum Buffer : uint8_t { kDRAM, kL1, kSystemMemory, kL1Small, kTrace };
enum Kernel : uint8_t { kApplication, kFabric, kDispatch };

#pragma pack(push, 1)
struct Record {
  Type type;
  uint8_t pad1[3];
  int32_t device;
  uint64_t size;
  uint8_t kind;
  uint8_t pad2[3];
  int32_t pid;
  uint64_t id;
  uint64_t time;
  uint64_t dram, l1, l1_small, trace, cb, kernel;  // of a response
  uint64_t total_dram, total_l1;                   // and from here on of what is known of a device
  uint32_t arch, dram_channels, dram_per_channel, l1_per_core, available, devices;
  uint32_t ring_size, ring_used, ring_programs, pad3;
};
#pragma pack(pop)
static_assert(sizeof(Record) == 144 && offsetof(Record, id) == 24 && offsetof(Record, cb) == 72 && offsetof(Record, arch) == 104 && offsetof(Record, pad3) == 140);

class Client {
 public:
  explicit Client(const char* path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (fd_ < 0 || std::strlen(path) >= sizeof to.sun_path) throw std::runtime_error("no such socket");
    std::strcpy(to.sun_path, path);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      ::close(fd_);
      throw std::runtime_error("nobody listens");
    }
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void allocate(int device, uint64_t address, uint64_t size, Buffer kind) { send(Type::kAlloc, device, address, size, kind); }
  void free(int device, uint64_t address) { send(Type::kFree, device, address, 0, 0); }
  void allocateCB(int device, uint64_t address, uint64_t size) { send(Type::kCBAlloc, device, address, size, 0); }
  void freeCB(int device, uint64_t address, uint64_t size) { send(Type::kCBFree, device, address, size, 0); }
  void load(int device, uint64_t kernel, uint64_t size, Kernel kind) { send(Type::kKernelLoad, device, kernel, size, kind); }
  void unload(int device, uint64_t kernel, uint64_t size) { send(Type::kKernelUnload, device, kernel, size, 0); }

  Record figures(int device) { return ask(Type::kQuery, device); }
  Record deviceInfo(int device) { return ask(Type::kDeviceQuery, device); }  // of -1: how many there are

 private:
  Record ask(Type type, int device) {
    send(type, device, 0, 0, 0);
    Record r{};
    for (size_t have = 0; have < sizeof r;) {
      ssize_t n = ::recv(fd_, reinterpret_cast<char*>(&r) + have, sizeof r - have, 0);
      if (n <= 0) throw std::runtime_error("the server hung up");
      have += size_t(n);
    }
    return r;
  }

  void send(Type type, int device, uint64_t id, uint64_t size, uint8_t kind) {
    Record r{};
    r.type = type;
    r.device = device;
    r.size = size;
    r.kind = kind;
    r.pid = ::getpid();
    r.id = id;
    for (size_t sent = 0; sent < sizeof r;) {
      ssize_t n = ::send(fd_, reinterpret_cast<const char*>(&r) + sent, sizeof r - sent, MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("the server hung up");
      sent += size_t(n);
    }
  }

  int fd_;
};

}  // namespace cbl1

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "want SOCKET\n");
    return 2;
  }
  cbl1::Client client(argv[1]);
  client.allocate(1, 0x100000, 4096, cbl1::kL1);
  client.allocate(1, 0x200000, 1 << 20, cbl1::kDRAM);
  client.allocateCB(1, 111616, 262144);
  client.allocateCB(1, 111616, 131072);
  client.load(1, 7, 2048, cbl1::kFabric);
  client.load(1, 8, 1024, cbl1::kDispatch);
  client.unload(1, 8, 1024);
  client.freeCB(1, 111616, 131072);
  client.free(1, 0x200000);
  cbl1::Record r = client.figures(1);
  std::printf("L1 %llu, DRAM %llu, CB %llu, kernels %llu\n", (unsigned long long)r.l1, (unsigned long long)r.dram, (unsigned long long)r.cb, (unsigned long long)r.kernel);
  std::printf("devices %u, L1 of a core %u\n", client.deviceInfo(-1).devices, client.deviceInfo(1).l1_per_core);
} catch (const std::exception& e) {
  std::fprintf(stderr, "alloc_client: %s\n", e.what());
  return 1;
}
