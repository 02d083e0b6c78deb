# Copyright 2026 The Clew Authors. All rights reserved.
# Use of this source code is governed by a BSD-3-Clause
# licence that can be found in the LICENSE file.

# Prints gdb's stacks as one line of JSON: gdb -p PID -batch -nx -x stacks.py
import json

KINDS = {gdb.NORMAL_FRAME: "normal", gdb.INLINE_FRAME: "inline", gdb.SIGTRAMP_FRAME: "signal", gdb.TAILCALL_FRAME: "tail call"}
REGISTERS = ["rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"]


def register(frame, name):
    try:
        return int(frame.read_register(name)) & (1 << 64) - 1
    except (gdb.error, ValueError):  # not saved, or not available
        return None


def describe(frame):
    place, function = frame.find_sal(), frame.function()
    return {
        "pc": frame.pc() & (1 << 64) - 1,
        "name": frame.name() or "",
        "linkage": function.linkage_name if function else "",
        "kind": KINDS.get(frame.type(), "other"),
        "file": place.symtab.filename if place.symtab else "",
        "line": place.line,
        # A tail call leaves no frame and so no registers.
        "registers": {n: register(frame, n) for n in registers if frame.type() != gdb.TAILCALL_FRAME},
    }


def stack():
    frames, error = [], ""
    frame = gdb.newest_frame()
    while frame is not None:
        frames.append(describe(frame))
        try:
            frame, last = frame.older(), frame
        except gdb.error as e:
            frame, error = None, str(e)
    if not error and last.unwind_stop_reason() not in (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST):
        error = gdb.frame_stop_reason_string(last.unwind_stop_reason())
    return {"frames": frames, "error": error}


# "bt" stops at main by default.
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set backtrace limit unlimited")
# On other machines the names differ from Clew's.
registers = REGISTERS if gdb.newest_frame().architecture().name() == "i386:x86-64" else []
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    threads[thread.ptid[1] or thread.ptid[0]] = stack()
print("STACKS " + json.dumps(threads))
