#!/usr/bin/env bash
# Makes the jitdumps of LLVM and V8: with clang 14 and lli 14, and node 20. Their
# addresses and times differ from run to run. Of V8's two megabytes it keeps the
# first builtin, a function with lines, and the optimized fib with an unwind table
# (and lines with file names that node 20 wrote after it had freed them).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

clang-14 -g -O1 -fno-inline -fdebug-compilation-dir=/src -S -emit-llvm -o "$tmp/fib.ll" fib.c
JITDUMPDIR=$tmp lli-14 --jit-kind=mcjit "$tmp/fib.ll"
cp "$tmp"/.debug/jit/*/jit-*.dump llvm.dump

cp fib.js "$tmp"
(cd "$tmp" && node --perf-prof --perf-prof-unwinding-info fib.js)
python3 - "$tmp"/jit-*.dump <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
groups, group, at = [], b"", 40
while at + 16 <= len(data):
    kind, size, _ = struct.unpack_from("<IIQ", data, at)
    group += data[at:at + size]
    if kind == 0:
        groups.append(group)
        group = b""
    at += size
keep = [[g for g in groups if name in g][-1] for name in (b"JS:^isPosixPathSeparator ", b"JS:*fib ")]
open("v8.dump", "wb").write(data[:40] + groups[0] + b"".join(keep))
PY
