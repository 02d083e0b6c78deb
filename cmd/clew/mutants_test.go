// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clewdev/clew/internal/corpus"
	"github.com/clewdev/clew/internal/sample"
)

var (
	mutantCount = flag.Int("mutants", 0, "how many mutants TestMutants makes; 0 stands for 600, and for 1500 with CLEW_FULL=1")
	mutantSeed  = flag.Uint64("mutant-seed", 0, "the seed of TestMutants; 0 stands for one made of the time")
)

const (
	mutantLimit  = 10 * time.Second // processor time of a command; the elapsed time may be six times as long
	mutantMemory = 512 << 20        // bytes of a worker
	mutantsEach  = 150              // commands of a worker, before another one replaces it
)

// TestMutants damages files of every format that Clew reads, and runs commands that read them. No
// command may panic, take ten seconds or 512 MiB, print control characters for a terminal, or leave
// a process stopped. Files also have sparse tails, are FIFOs and links, have leases on them, and
// grow, shrink or are swapped while they are read.
//
// Each run takes another sample. A large one:
//
//	go test ./cmd/clew -run TestMutants -mutants 20000 -timeout 2h
//
// The printed seed repeats a run with -mutant-seed.
func TestMutants(t *testing.T) {
	seed := *mutantSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	count := *mutantCount
	switch {
	case count > 0:
	case sample.Full():
		count = 1500
	case testing.Short():
		count = 200
	default:
		count = 600
	}
	t.Logf("%d mutants: go test ./cmd/clew -run TestMutants -mutants %d -mutant-seed %d", count, count, seed)
	signal.Ignore(unix.SIGIO) // the signal for the holder of a lease
	c := campaign{seed: seed, seeds: seeds(t), limit: mutantLimit, report: func(text string) { t.Error(text) }}
	c.run(t, count, runtime.GOMAXPROCS(0))
	t.Logf("results: %v; a process took %d MiB at most", c.counts, c.memory>>20)
}

// The commands have an answer for each undamaged seed. Otherwise damage would have no effect.
func TestMutantSeeds(t *testing.T) {
	c := campaign{seeds: seeds(t), limit: mutantLimit, whole: true, report: func(text string) { t.Error(text) }}
	count := 0
	for i := range c.seeds {
		count = max(count, len(c.seeds[i].commands))
	}
	c.run(t, count*len(c.seeds), runtime.GOMAXPROCS(0))
	for i := range c.seeds {
		name := c.seeds[i].name
		if answers := c.counts[name+": exit 0"] + c.counts[name+": exit 1"]; 2*answers < count {
			t.Errorf("%s: of %d commands %d have an answer", name, count, answers)
		}
	}
}

// TestMutants notices each kind of failure.
func TestMutantsAreJudged(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"worker do-nothing", ""},
		{"worker panic", "it crashed:\npanic: as asked"},
		{"worker overflow", "it crashed:\nruntime: goroutine stack exceeds"},
		{"worker spin", "it hung for "},
		{"worker wait", "it hung for "},
		{`worker print "\x1b[31m"`, `it printed "\x1b[31m\n"`},
		{`worker print "\u202e"`, `it printed "\u202e\n"`},
		{`worker complain "\u009b"`, `it printed "\u009b\n"`},
		{`worker print "\xff"`, `it printed "\xff\n"`},
		{"worker stop {pid}", "the process is not left as it was"},
	} {
		var reports []string
		limit := mutantLimit
		if strings.HasPrefix(tt.want, "it hung") {
			limit = 500 * time.Millisecond
		}
		c := campaign{seed: 1, limit: limit, report: func(text string) { reports = append(reports, text) },
			seeds: []seed{{name: "seed", data: make([]byte, 100), commands: []string{tt.command}, live: strings.Contains(tt.command, "{pid}")}}}
		c.run(t, 1, 1)
		text := strings.Join(reports, "\n")
		if (text == "") != (tt.want == "") || !strings.Contains(text, tt.want) {
			t.Errorf("%q: reported %.400q, expected %q", tt.command, text, tt.want)
		}
		if _, kept, ok := strings.Cut(text, "\nkept as "); ok {
			os.RemoveAll(filepath.Dir(kept))
		}
	}
}

// campaign is the state that the workers share.
type campaign struct {
	seed   uint64
	seeds  []seed
	limit  time.Duration // see mutantLimit
	report func(text string)
	whole  bool // files are not damaged, and each has all of its commands
	next   chan int

	mu     sync.Mutex
	counts map[string]int // by variant, and by exit code
	memory int64          // the most that a process has had, bytes
	failed int
}

// run makes mutants and passes them to worker processes.
func (c *campaign) run(t *testing.T, count, processes int) {
	c.next, c.counts = make(chan int), make(map[string]int)
	var workers sync.WaitGroup
	for range processes {
		w := &mutants{campaign: c, dir: t.TempDir()}
		if slices.ContainsFunc(c.seeds, func(s seed) bool { return s.live }) {
			w.live = startMutated(t, t.TempDir())
		}
		workers.Go(w.work)
	}
	for n := range count {
		c.next <- n
	}
	close(c.next)
	workers.Wait()
}

// maxReports bounds the reported mutants.
const maxReports = 20

// fail reports a mutant, and keeps it.
func (c *campaign) fail(m *mutant, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed++; c.failed > maxReports {
		return
	}
	kept, err := os.MkdirTemp("", "clew-mutant")
	if err == nil {
		kept = filepath.Join(kept, m.seed.name)
		os.WriteFile(kept, m.data, 0o600)
	}
	c.report(fmt.Sprintf("mutant %d of seed %d, of %s, %s: clew %s: %s\nkept as %s", m.number, c.seed, m.seed.name, m.variant, strings.Join(m.args, " "), fmt.Sprintf(format, args...), kept))
}

// mutants is a goroutine that makes mutants, with the process that reads them.
type mutants struct {
	*campaign
	dir  string
	live liveProcess

	cmd     *exec.Cmd
	in      *json.Encoder
	pipe    io.Closer
	results chan mutantResult // closed when the process has ended
	crash   *bytes.Buffer
	done    int
}

// start starts the process that executes commands.
func (w *mutants) start() error {
	in, inEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	outEnd, out, err := os.Pipe()
	if err != nil {
		return err
	}
	w.crash = new(bytes.Buffer)
	w.cmd = exec.Command(os.Args[0])
	w.cmd.Env = append(os.Environ(), "CLEW_MUTANT_WORKER=1", "CLEW_HISTORY=", "CLEW_CACHE=off", "NO_COLOR=1", "DEBUGINFOD_URLS=", "GOTRACEBACK=all", "TMPDIR="+w.dir)
	w.cmd.ExtraFiles = []*os.File{in, out}
	w.cmd.Stderr = w.crash
	err = w.cmd.Start()
	in.Close()
	out.Close()
	if err != nil {
		return err
	}
	w.in, w.pipe, w.done = json.NewEncoder(inEnd), inEnd, 0
	results := make(chan mutantResult)
	w.results = results
	go func() {
		defer close(results)
		defer outEnd.Close()
		d := json.NewDecoder(outEnd)
		for {
			var r mutantResult
			if d.Decode(&r) != nil {
				return
			}
			results <- r
		}
	}()
	return nil
}

// stop ends the process.
func (w *mutants) stop() {
	if w.cmd == nil {
		return
	}
	w.pipe.Close()
	for range w.results {
	}
	w.cmd.Wait()
	w.cmd = nil
}

func (w *mutants) work() {
	defer w.stop()
	for n := range w.next {
		m := w.make(n)
		if w.cmd != nil && w.done >= mutantsEach {
			w.stop()
		}
		if w.cmd == nil {
			if err := w.start(); err != nil {
				w.fail(m, "no worker: %v", err)
				continue
			}
		}
		w.done++
		restore, err := w.place(m)
		if err == nil {
			w.execute(m)
		}
		restore()
		if err != nil {
			w.fail(m, "it cannot be written: %v", err)
		}
	}
}

// mutant is one damaged file and the command that reads it.
type mutant struct {
	number  int
	random  *rand.Rand
	seed    *seed
	data    []byte
	variant string
	command int // of the seed's
	args    []string
}

// variants are the kinds of files for a mutant; "" is a plain file. Most are plain.
var variants = []string{"", "", "", "", "", "", "sparse", "sparse", "FIFO", "link", "leased", "grows", "shrinks", "swapped"}

// make makes mutant n. It depends only on n and the seed.
func (w *mutants) make(n int) *mutant {
	r := rand.New(rand.NewPCG(w.campaign.seed, uint64(n)))
	m := &mutant{number: n, random: r, seed: &w.seeds[n%len(w.seeds)], variant: variants[r.IntN(len(variants))]}
	if m.seed.given {
		m.variant = ""
	}
	m.command = r.IntN(len(m.seed.commands))
	damage := damage
	if w.whole {
		m.variant, m.command = "", n/len(w.seeds)%len(m.seed.commands)
		damage = func(_ *rand.Rand, data []byte) []byte { return data }
	}
	m.data = damage(r, m.seed.data)
	if m.seed.pack != nil {
		packed, err := m.seed.pack(m.data)
		if err != nil {
			w.fail(m, "it cannot be compressed: %v", err)
		}
		if m.data = packed; r.IntN(2) == 0 {
			m.data = damage(r, packed)
		}
	}
	return m
}

// escapes are control sequences of a terminal, and invalid text.
var escapes = []string{"\x1b[31m", "\x1b]0;x\x07", "\u202e", "\u009b31m", "\r", "\xff\xfe", "\u2066", "\x7f"}

// damage returns a damaged copy of a file.
func damage(r *rand.Rand, data []byte) []byte {
	// Headers are at the start, and tables of sections at the end.
	places := []uint64{0, 0x10, 0x20, 0x30, 0x40, 0x80, 0x100, 0x200}
	for back := range 16 {
		if at := len(data) - 64*(back+1); at > 0 {
			places = append(places, uint64(at))
		}
	}
	m := corpus.Mutate(r, data, places, binary.NativeEndian)
	for range r.IntN(3) {
		escape := escapes[r.IntN(len(escapes))]
		if len(m) > len(escape) {
			copy(m[r.IntN(len(m)-len(escape)):], escape)
		}
	}
	return m
}

// place writes the mutant to the place where the command finds it, and sets the command. The
// returned function removes the mutant.
func (w *mutants) place(m *mutant) (restore func(), err error) {
	var undo []func()
	restore = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	dir := filepath.Join(w.dir, "mutant")
	if m.random.IntN(4) == 0 {
		dir += escapes[m.random.IntN(4)] // names of files are printed too
	}
	path := filepath.Join(dir, m.seed.name)
	if m.seed.live {
		dir, path = w.live.dir, filepath.Join(w.live.dir, m.seed.name)
		if m.seed.name == liveMap {
			path = fmt.Sprintf("/tmp/perf-%d.map", w.live.PID)
		}
	} else {
		undo = append(undo, func() { os.RemoveAll(dir) })
		if err := os.Mkdir(dir, 0o700); err != nil {
			return restore, err
		}
		for name, data := range m.seed.others {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				return restore, err
			}
		}
	}
	for arg := range strings.FieldsSeq(m.seed.commands[m.command]) {
		arg = strings.ReplaceAll(arg, "{dir}", dir)
		if m.seed.live {
			arg = strings.ReplaceAll(arg, "{pid}", strconv.Itoa(w.live.PID))
		}
		m.args = append(m.args, strings.ReplaceAll(arg, "{}", path))
	}
	if m.seed.name == liveDump {
		// The file is mapped, so it must not be replaced by another file.
		if m.variant == "FIFO" || m.variant == "link" || m.variant == "swapped" {
			m.variant = ""
		}
		if err := os.WriteFile(path, m.data, 0o600); err != nil {
			return restore, err
		}
	} else if m.seed.live {
		undo = append(undo, func() {
			os.Remove(path)
			if m.seed.name != liveMap {
				os.WriteFile(path, m.seed.data, 0o600)
			}
		})
		os.Remove(path)
	}
	done, err := m.write(path)
	undo = append(undo, done)
	return restore, err
}

// write writes the mutant as a file of its variant. The returned function ends activities on it.
func (m *mutant) write(path string) (done func(), err error) {
	done = func() {}
	switch m.variant {
	case "FIFO":
		return done, unix.Mkfifo(path, 0o600)
	case "link":
		to := []string{"/dev/zero", "/proc/self/mem", "/proc/kmsg", path, "/etc/passwd", path + ".other", "/"}[m.random.IntN(7)]
		if err := os.WriteFile(path+".other", m.data, 0o600); err != nil {
			return done, err
		}
		return func() { os.Remove(path + ".other") }, os.Symlink(to, path)
	}
	if err := os.WriteFile(path, m.data, 0o600); err != nil {
		return done, err
	}
	switch m.variant {
	case "sparse":
		err = os.Truncate(path, 1<<40)
		if errors.Is(err, unix.EFBIG) {
			err = os.Truncate(path, 1<<34)
		}
	case "leased":
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return done, err
		}
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
			m.variant = "" // not every file system has leases
		}
		return func() { f.Close() }, nil
	case "grows", "shrinks", "swapped":
		done = m.keepChanging(path)
	}
	return done, err
}

// keepChanging changes the file until the returned function is called.
func (m *mutant) keepChanging(path string) (done func()) {
	stop := make(chan struct{})
	var changing sync.WaitGroup
	other := path + ".other"
	changing.Go(func() {
		for n := 0; ; n++ {
			switch m.variant {
			case "grows":
				if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
					f.Write(m.data[:min(len(m.data), 4096)])
					f.Close()
				}
				if n%64 == 63 {
					os.Truncate(path, int64(len(m.data)))
				}
			case "shrinks":
				os.Truncate(path, int64(len(m.data)*(n%8)/8))
				os.WriteFile(path, m.data, 0o600)
			case "swapped":
				if n%8 == 7 {
					unix.Mkfifo(other, 0o600)
				} else {
					os.WriteFile(other, m.data[:len(m.data)*(8-n%8)/8], 0o600)
				}
				os.Rename(other, path)
			}
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Microsecond):
			}
		}
	})
	return func() {
		close(stop)
		changing.Wait()
		os.Remove(other)
	}
}

// execute passes the command to the worker, and checks the result.
func (w *mutants) execute(m *mutant) {
	pid := w.cmd.Process.Pid
	began, used := time.Now(), cpuTime(pid)
	if err := w.in.Encode(&mutantRun{m.args}); err != nil {
		w.fail(m, "the worker is gone: %v", err)
		w.stop()
		return
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case r, ok := <-w.results:
			if !ok {
				w.cmd.Wait()
				w.cmd = nil
				w.fail(m, "it crashed:\n%s", head(w.crash.String(), 4000))
				return
			}
			w.judge(m, &r)
			return
		case <-tick.C:
			if cpuTime(pid)-used < w.limit && time.Since(began) < 6*w.limit {
				continue
			}
			w.cmd.Process.Signal(unix.SIGQUIT)
			for range w.results {
			}
			w.cmd.Wait()
			w.cmd = nil
			w.fail(m, "it hung for %v:\n%s", time.Since(began), head(w.crash.String(), 6000))
			return
		}
	}
}

func head(s string, n int) string { return s[:min(len(s), n)] }

// judge checks the output and the resources of a command, and whether the process still runs.
func (w *mutants) judge(m *mutant, r *mutantResult) {
	w.mu.Lock()
	w.memory = max(w.memory, r.Memory)
	if exit := fmt.Sprintf("exit %d", r.Code); w.whole {
		w.counts[m.seed.name+": "+exit]++
	} else {
		w.counts[cmp.Or(m.variant, "plain")]++
		w.counts[exit]++
	}
	w.mu.Unlock()
	if r.Escape != "" {
		w.fail(m, "it printed %s", r.Escape)
	}
	if r.Memory > mutantMemory {
		w.fail(m, "it took %d MiB", r.Memory>>20)
		w.stop()
	}
	if !m.seed.live {
		return
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.live.PID))
	if err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) || bytes.Contains(status, []byte("\nState:\tT")) || bytes.Contains(status, []byte("\nState:\tt")) {
		w.fail(m, "the process is not left as it was (%v):\n%s", err, status)
	}
}

// cpuTime returns the processor time of a process (proc(5), utime and stime).
func cpuTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	const perSecond = 100 // USER_HZ
	return time.Duration(user+system) * time.Second / perSecond
}
