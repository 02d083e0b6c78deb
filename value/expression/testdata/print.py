# Runs in gdb: stops the program at line $LINE of $SOURCE and evaluates the expressions in
# the file $EXPRESSIONS. Writes their values, and the program's memory and registers before
# the evaluation, to the file $OUTPUT as JSON.
import gdb, json, os

gdb.execute("set confirm off")
gdb.execute("set width 0")
gdb.execute("set height 0")
gdb.execute("set python print-stack none")
gdb.execute("tbreak %s:%s" % (os.environ["SOURCE"], os.environ["LINE"]))
gdb.execute("run", to_string=True)

maps = []
for line in open("/proc/%d/maps" % gdb.selected_inferior().pid):
    fields = line.split()
    path = fields[5] if len(fields) > 5 else ""
    if "r" not in fields[1] or path not in ("", "[heap]", "[stack]") and not path.endswith("/program"):
        continue
    low, high = (int(x, 16) for x in fields[0].split("-"))
    memory = gdb.selected_inferior().read_memory(low, high - low)
    maps.append({"start": low, "bytes": bytes(memory).hex(), "path": path})

registers = {}
for name in "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip cs ss ds es fs gs fs_base gs_base".split():
    registers[name] = int(gdb.parse_and_eval("(unsigned long)$" + name)) & (2**64 - 1)
xmm = []
for n in range(16):
    low, high = (int(gdb.parse_and_eval("$xmm%d.v2_int64[%d]" % (n, k))) & (2**64 - 1) for k in (0, 1))
    xmm.append(high << 64 | low)

answers = []
for line in open(os.environ["EXPRESSIONS"]):
    line = line.rstrip("\n")
    if line == "" or line.startswith("#"):
        continue
    try:
        text = gdb.execute("print " + line, to_string=True)
        text = "".join(l for l in text.splitlines(True) if not l.startswith("warning: "))
        answers.append([line, text.split(" = ", 1)[1].rstrip("\n"), ""])
    except gdb.error as e:
        answers.append([line, "", str(e)])

json.dump({"maps": maps, "registers": registers, "xmm": ["%032x" % x for x in xmm], "answers": answers}, open(os.environ["OUTPUT"], "w"))
gdb.execute("kill")
