package main

// glossary has the terms of the tables, for cbl1 help words.
const glossary = `device      a chip, or a mesh of chips that hold the same; equal devices are one row
core        logical coordinates x-y; [0-0 - 7-3] is a range of cores, both ends included
registered  most bytes of circular buffers (CBs) of programs at once: in a capture all that ran, as
            the program cache keeps them; in a log those from register to unregister
at end      the same after the last node or event: programs that were unregistered do not count
alive peak  most bytes of CBs at once, each from its node to the free that reaches its device
logical     size x cores of every CB: shared bytes count again and again
L1 peak     most bytes of one core at once, everything but kernels, each byte once (tracked)
fullest     the core with most bytes; where several have as many, the first of them
usable L1   from the base of CBs to the top of L1, without L1_SMALL; the base of percentages
tracked     held by CBs, L1 buffers and the like; a program's stay until the next one on the core
in L1       buffers that are allocated, and those of the program that ran last on the core
stale       a tensor in L1 after its last use: freed there, the peak would have been lower
tightest    bytes free above the program run with the least, when it was enqueued; cbl1 room finds
            the largest buffer that could be added
placed?     the input has no addresses: tt-metal's rule gave them, from --base
blackhole?  the input does not name its chip: --arch does
global CB   lies in a tensor or a GlobalCircularBuffer, and has no bytes of its own
`
