"""Faults of the network between rpcurl and real servers: a proxy, the cases, and what is required of each.

    proxy.py    a TCP proxy that forwards bytes, and makes one fault at a chosen byte of one direction
    quic.py     the same proxy for HTTP/3: the bytes are those of the stream of a request
    wire.py     which messages the forwarded bytes contain, and whether a call is complete in them
    cases.py    the calls, the modes of the program, and a fault at each interesting byte of each call
    oracle.py   what is required of the output, the exit code and the error of a case
    matrix.py   runs cases, and is the program of `make fault-matrix`
    soak.py     one session for a long time, with calls, faults and reloads: the program of `make soak`

Recorded responses of servers, with mutations, instead of a server:

    mutations.py  changes of fields, envelopes, frames, lines and bytes, the same for a seed
    reference.py  what a response contains, read by h2 and h11 and by a lenient reader
    http3.py      the same for HTTP/3, and a server
    fuzz.py       records, replays and judges: the program of `make mutation-fuzz`

The oracle of faults does not depend on times or on the order in which frames arrive: the proxy records what it forwarded, and the
requirement follows from that.
"""
