// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package recording

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// scriptSample is a sample as perf script prints it.
type scriptSample struct {
	pid, tid int32
	time     uint64
	event    string
	frames   []scriptFrame
}

type scriptFrame struct {
	address uint64
	symbol  string
	offset  uint64
	dso     string
}

var (
	headingLine = regexp.MustCompile(`^\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s+(?:\d+\s+)?(\S+?):(.*)$`)
	frameLine   = regexp.MustCompile(`^\s+([0-9a-f]+) (.*) \((.*)\)$`)
)

// perfScript returns the output of perf script for a recording.
func perfScript(t *testing.T, path string) []scriptSample {
	t.Helper()
	perf := testprogram.RequireTool(t, "perf")
	cmd := exec.Command(perf, "script", "-i", path, "--no-inline", "--ns", "-F", "pid,tid,time,event,ip,sym,symoff,dso")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &stderr)
	}
	var samples []scriptSample
	for _, line := range strings.Split(string(out), "\n") {
		if m := headingLine.FindStringSubmatch(line); m != nil {
			s := scriptSample{event: m[5]}
			pid, _ := strconv.ParseInt(m[1], 10, 32)
			tid, _ := strconv.ParseInt(m[2], 10, 32)
			seconds, _ := strconv.ParseUint(m[3], 10, 64)
			nanoseconds, _ := strconv.ParseUint(m[4], 10, 64)
			s.pid, s.tid, s.time = int32(pid), int32(tid), seconds*1e9+nanoseconds
			samples = append(samples, s)
			// Without call chains the only frame is on the same line.
			if line = m[6]; strings.TrimSpace(line) == "" {
				continue
			}
		}
		m := frameLine.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case m == nil || len(samples) == 0:
			t.Fatalf("perf script prints %q", line)
		}
		f := scriptFrame{symbol: m[2], dso: m[3]}
		f.address, _ = strconv.ParseUint(m[1], 16, 64)
		if i := strings.LastIndex(f.symbol, "+0x"); i >= 0 {
			f.offset, _ = strconv.ParseUint(f.symbol[i+3:], 16, 64)
			f.symbol = f.symbol[:i]
		}
		s := &samples[len(samples)-1]
		s.frames = append(s.frames, f)
	}
	return samples
}

// keptSample is a copy of a Sample.
type keptSample struct {
	Sample
	frames []stack.Frame
}

// readAll reads a recording and keeps its samples.
func readAll(t *testing.T, path string, opts Options) (*Recording, []keptSample) {
	t.Helper()
	r, err := perfdata.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var samples []keptSample
	opts.Each = func(s *Sample) error {
		k := keptSample{Sample: *s}
		for _, f := range s.Frames {
			k.frames = append(k.frames, *f)
		}
		samples = append(samples, k)
		return nil
	}
	rec, err := Read(r, opts)
	if err != nil {
		t.Fatal(err)
	}
	return rec, samples
}

// compared counts the results of a comparison.
type compared struct {
	samples, frames, deeper, named int
	skipped                        int // stacks of which perf leaves out frames
}

// compareScript compares the stacks of a recording with those of perf script: each is at least
// as deep, and equal to perf's frame by frame.
func compareScript(t *testing.T, path string) (c compared) {
	t.Helper()
	want := perfScript(t, path)
	_, got := readAll(t, path, Options{})
	if len(got) != len(want) {
		t.Errorf("%s: %d samples, perf has %d", filepath.Base(path), len(got), len(want))
	}
	different := 0
	for i := range min(len(got), len(want)) {
		g, w := &got[i], &want[i]
		c.samples++
		if g.Thread.PID != w.pid || g.Thread.TID != w.tid || g.Time != w.time || g.Event.Name != w.event {
			t.Errorf("%s: sample %d is of %d/%d at %d, %s; perf has %+v", filepath.Base(path), i, g.Thread.PID, g.Thread.TID, g.Time, g.Event.Name, w)
			return c
		}
		c.frames += len(g.frames)
		if len(g.frames) > len(w.frames) {
			c.deeper++
		}
		if why := differs(g, w, &c); why != "" {
			if different++; different <= 5 {
				t.Errorf("%s: sample %d at %d: %s\n%s", filepath.Base(path), i, g.Time, why, sideBySide(g, w))
			}
		}
	}
	// perf 6.1 sometimes omits the caller of a function that has just been entered.
	if c.skipped > 1+c.samples/100 {
		t.Errorf("%s: perf leaves out frames of %d stacks of %d", filepath.Base(path), c.skipped, c.samples)
	}
	if different > 0 {
		t.Errorf("%s: %d of %d stacks differ", filepath.Base(path), different, len(want))
	}
	return c
}

func differs(g *keptSample, w *scriptSample, c *compared) string {
	for n := len(w.frames) - 1; n > 0 && isBeyondEnd(g, &w.frames[n]); n-- {
		w.frames = w.frames[:n]
	}
	at := 0 // in g.frames
	skipped := false
	for i := range w.frames {
		for at < len(g.frames) && !sameFrame(&g.frames[at], &w.frames[i], c) {
			skipped = true
			at++
		}
		if at == len(g.frames) {
			if skipped {
				return fmt.Sprintf("it lacks frame %d of perf's", i)
			}
			return fmt.Sprintf("it has %d frames (%v), perf's %d", len(g.frames), g.Reason, len(w.frames))
		}
		at++
	}
	if skipped {
		c.skipped++
	}
	return ""
}

// isBeyondEnd reports whether perf's last frame is an error of perf. It prints the return address 0
// of the outermost function as a frame. And in the dynamic linker it sometimes takes another word of
// the stack for the return address, and ends there.
func isBeyondEnd(g *keptSample, w *scriptFrame) bool {
	if w.address == ^uint64(0) {
		return true
	}
	return w.dso == "[unknown]" && g.Reason == unwind.EndOfStack && !slices.ContainsFunc(g.frames, func(f stack.Frame) bool { return f.Object == nil })
}

func sameFrame(g *stack.Frame, w *scriptFrame, c *compared) bool {
	same := g.Address == w.address || fileOffset(g) == w.address
	if w.symbol == "[unknown]" || w.symbol == "" || w.symbol == "@plt" {
		return same
	}
	c.named++
	if plainName(g.Symbol.Name) == plainName(w.symbol) {
		// Without call chains perf prints run-time addresses.
		offset, ok := g.Offset()
		return same || ok && offset == w.offset
	}
	if same && g.Returns && w.offset == 0 {
		return true // perf takes the function that begins after the call for the caller
	}
	// Several symbols can cover an address. Any of them is right if its address plus perf's
	// offset is the address.
	return g.Object != nil && namesAt(g.Object.Path)[g.Address-w.offset][plainName(w.symbol)]
}

var symbolNames sync.Map // by file

// namesAt returns the names of the symbols of a file, by address.
func namesAt(path string) map[uint64]map[string]bool {
	if m, ok := symbolNames.Load(path); ok {
		return m.(map[uint64]map[string]bool)
	}
	m := make(map[uint64]map[string]bool)
	add := func(address uint64, name string) {
		if m[address] == nil {
			m[address] = make(map[string]bool)
		}
		m[address][plainName(name)] = true
	}
	if filepath.Base(path) == "kallsyms" {
		list, err := openKallsyms(path)
		if err == nil {
			defer list.close()
			for offset := int64(0); ; {
				l, ok := list.line(offset)
				if !ok {
					break
				}
				add(l.address, string(l.name))
				offset = l.next
			}
		}
	} else if f, err := object.Open(path); err == nil {
		new(debugfile.Search).OpenDebugFile(f)
		for s := range f.Symbols() {
			add(s.Address, s.Name)
		}
		f.Close()
	}
	symbolNames.Store(path, m)
	return m
}

// plainName returns a name in the form that both tools share: perf omits parameters and
// versions.
func plainName(s string) string {
	if i := strings.IndexByte(s, '@'); i > 0 {
		s = s[:i]
	}
	s = demangle.Filter(s, demangle.NoParams, demangle.NoEnclosingParams)
	return strings.TrimSuffix(s, ".abi0")
}

var segments sync.Map // by file

// fileOffset returns the offset of a frame's address in its file, which perf 6.1 prints as the
// address, also for programs that are not linked to address 0.
func fileOffset(g *stack.Frame) uint64 {
	if g.Object == nil || g.Object.Path == "" {
		return g.Address
	}
	list, ok := segments.Load(g.Object.Path)
	if !ok {
		list = []elf.ProgHeader(nil)
		if f, err := object.Open(g.Object.Path); err == nil {
			list = slices.Clone(f.Segments())
			f.Close()
		}
		segments.Store(g.Object.Path, list)
	}
	for _, p := range list.([]elf.ProgHeader) {
		if p.Type == elf.PT_LOAD && g.Address >= p.Vaddr && g.Address-p.Vaddr < p.Memsz {
			return g.Address - p.Vaddr + p.Off
		}
	}
	return g.Address
}

func sideBySide(g *keptSample, w *scriptSample) string {
	var b strings.Builder
	shown := 0
	for i := range max(len(g.frames), len(w.frames)) {
		if i < len(g.frames) && i < len(w.frames) && sameFrame(&g.frames[i], &w.frames[i], new(compared)) &&
			i > 3 && i+4 < len(g.frames) {
			continue
		}
		if shown++; shown > 20 {
			break
		}
		var left, right string
		if i < len(g.frames) {
			f := &g.frames[i]
			name := ""
			if f.Object != nil {
				name = f.Object.Name
			}
			offset, _ := f.Offset()
			left = fmt.Sprintf("%x %s+%#x (%s)", f.Address, f.Symbol.Name, offset, name)
		}
		if i < len(w.frames) {
			f := w.frames[i]
			right = fmt.Sprintf("%x %s+%#x (%s)", f.address, f.symbol, f.offset, f.dso)
		}
		mark := " "
		if i < len(g.frames) && i < len(w.frames) && !sameFrame(&g.frames[i], &w.frames[i], new(compared)) {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s %-80s %s\n", mark, left, right)
	}
	return b.String()
}
