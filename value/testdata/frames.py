# Prints gdb's output for every frame as JSON, at each line of the program with
# STOP. Run by gdb with these python globals: "source", "directory", "expressions",
# "general" and "vectors", the names of the machine's registers, "lanes", gdb's
# names of the two halves of a vector, and "remote", the socket of an emulator or
# "". With an emulator, "ranges" are the program's memory without the stack.
import gdb, json, os, re

def text(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as e:
        return "ERROR " + str(e)
    except UnicodeDecodeError:
        return "" # the name of a set of characters has one that is not UTF-8

def registers(frame):
    found = {}
    for name in general:
        try:
            found[name] = "%x" % (int(frame.read_register(name)) & (2**64 - 1))
        except gdb.error:
            pass
    for name in vectors:
        try:
            v = frame.read_register(name)
            for lane in lanes:
                v = v[lane]
            found[name] = "%x" % ((int(v[0]) & (2**64 - 1)) | (int(v[1]) & (2**64 - 1)) << 64)
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
if remote:
    gdb.execute("target remote " + remote, to_string=True)
    gdb.execute("continue", to_string=True)
else:
    gdb.execute("run", to_string=True)

def mappings():
    """Start, end and path of what the process has mapped."""
    if remote:
        sp = int(gdb.newest_frame().read_register("sp"))
        for start, end in ranges + [(sp & -4096, end_of(sp & -4096))]:
            yield start, end, ""
        return
    for line in text("info proc mappings").splitlines():
        part = line.split()
        if len(part) >= 5 and part[0].startswith("0x") and ("lib" not in line) and ("vvar" not in line) and "vsyscall" not in line:
            yield int(part[0], 16), int(part[1], 16), part[-1] if len(part) > 5 else ""

def end_of(stack):
    """The end of the pages from an address on, of which no list tells."""
    end = stack
    while end < stack + 2**20:
        try:
            gdb.selected_inferior().read_memory(end, 1)
        except gdb.error:
            break
        end += 4096
    return end

while gdb.selected_inferior().pid and len(stops) < 40:
    maps = []
    for start, end, path in mappings():
        name = os.path.join(directory, "%d-%x" % (len(stops), start))
        try:
            with open(name, "wb") as out:
                out.write(bytes(gdb.selected_inferior().read_memory(start, end - start)))
            maps.append({"start": "%x" % start, "file": name, "path": path})
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
            if not re.match(r"[a-zA-Z_]\w*$", n):
                continue # gfortran's own, which no expression can name
            # In Fortran gdb 13 reads the name of an unnamed type, and crashes.
            if "<incomplete type>" not in text("print " + n):
                found["whatis"][n] = text("whatis " + n)
            for letter in " x d u o t z c a f".split(" "):
                found["print"][n + "/" + letter] = text("print%s %s" % ("/" + letter if letter else "", n))
        # gdb searches every file of the program for a name that is in no block.
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
