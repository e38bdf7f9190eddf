"""A cable that is long or thin: carries packets between two interfaces, late or few at a time.

    python slow_cable.py INTERFACE INTERFACE DELAY RATE

DELAY is in seconds for each direction; RATE in bytes a second for each direction, 0: any. Prints "ready" and carries
until it is killed. At most a second's worth of packets waits for a thin cable; what comes beyond that is dropped, as a
switch drops it, and TCP slows down.
"""

from __future__ import annotations

import heapq
import select
import socket
import sys
import time

_SOL_PACKET, _PACKET_VNET_HDR, _PACKET_OUTGOING, _ALL_PROTOCOLS = 263, 15, 4, 0x0003
_MOST_BYTES = 1 << 17
_MOST_WAITING_SECONDS = 1.0


def _open(interface: str) -> socket.socket:
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
    # With the header of virtual network cards, packets may be larger than the wire allows, and without a checksum, as
    # the two kernels' ends of a pair leave them.
    end.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    end.bind((interface, 0))
    return end


def main() -> None:
    """Carry packets until killed."""
    first, second, delay, rate = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    ends = [_open(first), _open(second)]
    #: By direction: when the cable has room for the next packet.
    free = [0.0, 0.0]
    under_way: list[tuple[float, int, int, bytes]] = []
    number = 0
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        patience = max(under_way[0][0] - time.monotonic(), 0.0) if under_way else None
        for end in select.select(ends, [], [], patience)[0]:
            packet, source = end.recvfrom(_MOST_BYTES)
            if source[2] == _PACKET_OUTGOING:
                continue
            side, now = ends.index(end), time.monotonic()
            if rate:
                if free[side] - now > _MOST_WAITING_SECONDS:
                    continue
                free[side] = max(free[side], now) + len(packet) / rate
            number += 1
            heapq.heappush(under_way, (max(free[side], now) + delay, number, 1 - side, packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, side, packet = heapq.heappop(under_way)
            try:
                ends[side].send(packet)
            except OSError:
                # The other end is down.
                continue


if __name__ == "__main__":
    main()
