# Prints, at each line of the program with STOP, what gdb says of every frame,
# as JSON. Run by gdb: python globals "source", "directory" and
# "expressions".
import gdb, json, os, re

def text(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as e:
        return "ERROR " + str(e)

def registers(frame):
    found = {}
    for name in ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()):
        try:
            found[name] = "%x" % (int(frame.read_register(name)) & (2**64 - 1))
        except gdb.error:
            pass
    for k in range(16):
        try:
            v = frame.read_register("xmm%d" % k)["v2_int64"]
            found["xmm%d" % k] = "%x" % ((int(v[0]) & (2**64 - 1)) | (int(v[1]) & (2**64 - 1)) << 64)
        except gdb.error:
            pass
    return found

def names(frame):
    seen = []
    try:
        block = frame.block()
    except RuntimeError:
        return seen
    while block is not None:
        for s in block:
            if s.is_variable or s.is_argument:
                if s.name not in seen:
                    seen.append(s.name)
        if block.function is not None:
            break
        block = block.superblock
    return seen

stops = []
with open(source) as f:
    for number, line in enumerate(f, 1):
        if "// STOP" in line:
            gdb.Breakpoint("%s:%d" % (os.path.basename(source), number))
gdb.execute("set print frame-info location-and-address")
gdb.execute("run", to_string=True)
while gdb.selected_inferior().pid and len(stops) < 40:
    maps = []
    for line in text("info proc mappings").splitlines():
        part = line.split()
        if len(part) >= 5 and part[0].startswith("0x") and ("lib" not in line) and ("vvar" not in line) and "vsyscall" not in line:
            name = os.path.join(directory, "%d-%s" % (len(stops), part[0]))
            try:
                with open(name, "wb") as out:
                    start, end = int(part[0], 16), int(part[1], 16)
                    out.write(bytes(gdb.selected_inferior().read_memory(start, end - start)))
                maps.append({"start": part[0][2:], "file": name, "path": part[-1] if len(part) > 5 else ""})
            except gdb.error:
                pass
    frames = []
    frame = gdb.newest_frame()
    interrupted = True
    while frame is not None and len(frames) < 12:
        frame.select()
        info = text("info frame")
        at = info.split("frame at ")[1].split(":")[0].split()[0] if "frame at " in info else "0x0"
        args = text("frame")
        found = {"pc": "%x" % frame.pc(), "inline": frame.type() == gdb.INLINE_FRAME, "interrupted": interrupted,
                 "tail": frame.type() == gdb.TAILCALL_FRAME,
                 "cfa": at[2:], "registers": registers(frame), "name": frame.name(), "line": args.splitlines()[0],
                 "locals": text("info locals"), "args": text("info args"), "print": {}, "whatis": {}, "expressions": {}}
        known = names(frame)
        for n in known:
            found["whatis"][n] = text("whatis " + n)
            for letter in " x d u o t z c a f".split(" "):
                found["print"][n + "/" + letter] = text("print%s %s" % ("/" + letter if letter else "", n))
        # Of a name that no block knows gdb asks every file of the program.
        for e in expressions:
            if re.search(r"\w+", e).group() in known:
                found["expressions"][e] = text("print " + e)
        frames.append(found)
        interrupted = frame.type() == gdb.INLINE_FRAME and interrupted
        if frame.name() == "main":
            break
        frame = frame.older()
    stops.append({"maps": maps, "frames": frames})
    gdb.execute("continue", to_string=True)
print("STOPS " + json.dumps(stops))
gdb.execute("kill") if gdb.selected_inferior().pid else None
