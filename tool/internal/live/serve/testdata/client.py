"""A client of the allocation server with records of 112 bytes, as the protocol's Python
client is documented, with its three faults: its buffer types lack SYSTEM_MEMORY, so that
its TRACE arrives as L1_SMALL; its FREE names device 0 always; it decodes answers one word
too early, so that its number of devices is is_available."""

import socket
import struct
import sys

HEAD = "<B3xiQB3xiQQ"  # type, device, size, buffer type, pid, id, timestamp
TAIL = "4Q2Q6I"
SIZE = struct.calcsize(HEAD + TAIL)
DRAM, L1, L1_SMALL, TRACE = 0, 1, 2, 3
ALLOC, FREE, QUERY, DEVICE_INFO_QUERY = 1, 2, 3, 6


def message(kind, device=0, size=0, buffer_type=0, pid=0, buffer_id=0, stamp=0):
    return struct.pack(HEAD + TAIL, kind, device, size, buffer_type, pid, buffer_id, stamp, *[0] * 12)


def receive(s):
    data = b""
    while len(data) < SIZE:
        more = s.recv(SIZE - len(data))
        if not more:
            sys.exit("the server hung up")
        data += more
    return data


s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.connect(sys.argv[1])
pid = 4242
s.sendall(message(ALLOC, 1, 4096, L1, pid, 0x1000, 1700000000000000000))
s.sendall(message(ALLOC, 1, 64, TRACE, pid, 0x2000, 1700000000000000000))
s.sendall(message(ALLOC, 0, 1024, DRAM, pid, 0x3000, 1700000000000000000))
s.sendall(message(FREE, 0, 0, 0, pid, 0x1000))
s.sendall(message(QUERY, 1))
print("device 1", *struct.unpack_from("<4Q", receive(s), 40))
s.sendall(message(DEVICE_INFO_QUERY, -1))
print("devices", struct.unpack_from("<I", receive(s), 104)[0])
