"""A simulator that asks while it runs: python3 live.py [COMMAND], where COMMAND is how to call cbl1."""
import sys

from cbl1_events import Live

live = Live([*(sys.argv[1:] or ["cbl1"]), "stream"], process="toy simulator")
live("device", device=0, spec={"arch": "wormhole", "cols": 8, "rows": 8})

# A tensor grows down until a cached program does not fit beside it any more.
live("program", program=1, cbs=[{"cores": "[0-0 - 7-7]", "size": 1 << 20}])
top, tick = 1499136, 0
while not live.refused:
    tick += 1
    live("enqueue", program=1, t=tick)
    room = live.ask("headroom", program=1)["groups"][0]["free_bytes"]
    print(f"tick {tick}: {room} bytes of room")
    top -= 65536
    live("allocate", buffer=tick, kind="l1", parts=[{"address": top, "size": 65536}], t=tick)

refusal = live.refused[0]
print(f"tick {refusal['t']}: {refusal['error']}")
print(f"{refusal['verdict']['refusals'][0]['over_bytes']} bytes too many")
sys.exit(live.close())
