// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package untrusted

// trusted are the functions outside of this package that open or examine files by name, and
// the reasons why only the user or the kernel chooses these files.
var trusted = map[string]string{
	// The user names the file.
	"cmd/clew/input: ContentOf":              "an argument of the command",
	"cmd/clew/debug: debugger.batch":         "the argument of --batch, which can be a pipe",
	"cmd/clew/input: startCause":             "a program that the user wants to run",
	"cmd/clew/input: Exist":                  "the arguments of --sysroot and --exe; they are only looked at",
	"cmd/clew: functionsOf":                  "an argument of the command that is completed",
	"cmd/clew: named":                        "an argument of the command, which is only looked at",
	"cmd/clew: jitTarget.readRecording":      "an argument of the command",
	"cmd/clew/input: OpenBeside":             "an argument of the command",
	"cmd/clew: creatable":                    "the directory of an argument of the command, which is only looked at",
	"cmd/clew: readProfile":                  "an argument of the command",
	"cmd/clew: openSource":                   "an argument of the command",
	"cmd/clew: openRecording":                "an argument of the command",
	"cmd/clew: readBaseline":                 "the argument of --baseline",
	"cmd/clew/input: Regular":                "an argument of the command, which is only looked at",
	"session/console: Console.sourceCommand": "the argument of source, which can be a pipe",
	"session/console: paths":                 "completes what the user types",
	"session/rsp: client.file":               "the client names it, and runs any code as the same user",
	"session/rsp: client.open":               "the client names it, and runs any code as the same user",
	"report/readelf: linkCandidates":         "the path of the file that the user names, which is only resolved",

	// The caller of the library names the file. These open only regular files.
	"jit/perf: readFile":                 "ReadJitdump and ReadMap take a path of the caller's",
	"stack/codefile: Reader.Read":        "takes a path of the caller's",
	"object: Open":                       "takes a path of the caller's",
	"snapshot/core: Open":                "takes a path of the caller's",
	"snapshot/minidump: Open":            "takes a path of the caller's",
	"snapshot/internal/stored: Open":     "core.Open takes a path of the caller's",
	"snapshot/perfdata: Reader.openFile": "perfdata.Open takes a path of the caller's",
	"debugfile: Place.Open":              "only of places whose field Named says that the user or the kernel chose the path",

	"record: sampler.addGroup": "Options.Cgroup is a directory of the caller's",
	"record: selected":         "Options.Cgroup, and cgroup.procs below it, of which only the kernel's file system counts",
	"record: hasOtherRights":   "the program of Options.Command, which is only looked at",

	// The file or link is the kernel's. Its name consists of constants and process IDs, which
	// isKernelFile does not recognize.
	"record/resource: readStart":    "files of /proc/PID",
	"session/socket: openTable":     "/proc/self/net/tcp and tcp6",
	"session: explain":              "hands os.ReadFile to refusal, which reads constant names below /proc",
	"cmd/clew: ofTerminal":          "/dev/tty",
	"record: event.find":            "the ID of a tracepoint below /sys/kernel/tracing; its name has no slash and no dots",
	"record: readFile":              "a file of /proc/PID, named by numbers",
	"snapshot/process: All":         "/proc, and comm of each process",
	"snapshot/process: clockOffset": "/proc/PID/timens_offsets",
	"snapshot/process: machine":     "/proc/PID/exe",
	"snapshot/process: openMapping": "/proc/PID/exe, of which the link is read",
	"snapshot/process: readLineAt":  "files of /proc/PID",
	"snapshot/process: root":        "/ and /proc/PID/root, which are only looked at",
	"stack/recording: file.wanted":  "a link of /proc/PID/map_files, of which the inode is compared",
	"stack/recording: namespaceOf":  "/proc/PID/ns/mnt, which is only looked at",

	// The dynamic linker runs code of the file in this process.
	"cgotraceback: file.openFile": "the program and its libraries, as the dynamic linker names them",
	"cgotraceback: prepared.file": "/proc/self/exe, of which the link is read",

	// The files belong to this process, in a directory of the user.
	"internal/outputtest: Golden":             "testdata of a test",
	"cmd/clew/debug: HasSymbols":              "this program",
	"cmd/clew/debug: historyPath":             "the home directory of the user, which is only looked at",
	"cmd/clew/debug: protects":                "a directory for temporary files of this process, of which only the owner and the mode are read",
	"debugfile/debuginfod: entry.remember":    "makes an empty file (O_EXCL) in the user's cache",
	"debugfile/sectioncache: Cache.Key":       "looks at a link in the user's private cache",
	"debugfile/sectioncache: Cache.Load":      "a hash in the user's cache; O_NOFOLLOW, O_NONBLOCK, and the owner is checked",
	"debugfile/sectioncache: Cache.isPrivate": "looks at the directories of the user's cache",
	"debugfile/sectioncache: Cache.prune":     "lists the user's private cache",
	"debugfile/sectioncache: Default":         "looks at the directory of the user's caches",
	"debugfile/sectioncache: follow":          "looks at a link in the user's private cache",

	// Writers of generated code examine the files that they make; package outputfile opens
	// them.
	"jit/perf: addOwn":     "looks at a file that this process has made",
	"jit/perf: createOwn":  "makes the process's own jitdump (O_EXCL)",
	"jit/perf: leftOver":   "looks at a file before it is replaced",
	"jit/perf: locked":     "O_NOFOLLOW, O_NONBLOCK; asks whether another process writes the jitdump",
	"jit/perf: mapAtStart": "looks at the process's own perf map",
	"jit/perf: mappedHere": "resolves the path of the process's own jitdump, and opens nothing",
	"jit/perf: openMap":    "looks at the process's own perf map",
}
