// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/snapshot/process"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// bursts is the number of short pieces of a run of a walker. The fastest counts, because
// on a shared machine other programs interrupt some of them.
const bursts = 50

// samples is the number of successive samples of the thread.
const samples = 16

// A deepStack is the program of testdata/stack.c.
type deepStack struct {
	command *exec.Cmd
	in      io.Writer
	out     *bufio.Reader
}

func startDeepStack(path string) (*deepStack, error) {
	w := &deepStack{command: exec.Command(path)}
	var err error
	if w.in, err = w.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	return w, w.command.Start()
}

func (w *deepStack) stop() {
	w.command.Process.Kill()
	w.command.Wait()
}

// ask makes the program walk its stack, and returns the time for 1000 frames.
func (w *deepStack) ask(how string, times int) (outcome, error) {
	var o outcome
	if _, err := fmt.Fprintln(w.in, how, times); err != nil {
		return o, err
	}
	line, err := w.out.ReadString('\n')
	if err != nil {
		return o, err
	}
	var took int64
	_, err = fmt.Sscan(line, &took, &o.entries)
	o.took = time.Duration(took)
	return o, err
}

// A sample holds the registers and the stack of the thread at one moment.
type sample struct {
	registers unwind.Registers
	stack     unwind.Stack
}

// record takes samples of the thread. Between them it returns from a few functions
// and calls others.
func (w *deepStack) record() ([]sample, *stack.Objects, error) {
	random := rand.New(rand.NewPCG(1, 2))
	var recorded []sample
	for {
		if err := w.wait(); err != nil {
			return nil, nil, err
		}
		snapshot, err := process.Snapshot(w.command.Process.Pid, nil)
		if err != nil {
			return nil, nil, err
		}
		thread := &snapshot.Threads[0]
		recorded = append(recorded, sample{thread.Registers, unwind.Stack{Address: thread.StackAddress, Bytes: thread.Stack}})
		if len(recorded) == samples {
			return recorded, stack.NewObjects(snapshot), nil
		}
		fmt.Fprintln(w.in, "up", random.IntN(6))
	}
}

// wait returns when the program waits for a line.
func (w *deepStack) wait() error {
	time.Sleep(20 * time.Millisecond)
	_, err := w.ask("backtrace", 1)
	time.Sleep(20 * time.Millisecond)
	return err
}

// compiled returns the modules of the frames, with compiled tables.
func compiled(objects *stack.Objects, m *arch.Machine, samples []sample) (*unwind.Modules, error) {
	w := unwind.Walker{Machine: m, Modules: &objects.Modules}
	tables := map[*unwind.Module]*unwind.Module{}
	modules := &unwind.Modules{}
	for _, s := range samples {
		w.Stack = s.stack
		for f := range w.Walk(&s.registers) {
			if f.Module == nil || tables[f.Module] != nil {
				continue
			}
			o := objects.Object(f.Module)
			file, err := o.File()
			if err != nil {
				return nil, err
			}
			section, err := file.EHFrame()
			if err != nil {
				return nil, err
			}
			table := &unwind.Module{Name: o.Name, Bias: o.Bias, Source: unwind.Compile(section)}
			tables[f.Module] = table
			for _, mapping := range o.Mappings {
				if mapping.Executable {
					modules.Add(mapping.Start, mapping.End, table)
				}
			}
		}
	}
	return modules, nil
}

// walkMeasurements are of walks of one thread's stack: by clew over samples, and by
// libunwind in the process itself. Times are for 1000 frames.
func walkMeasurements(path string, o *object) ([]*measurement, func(), error) {
	if path == "" {
		return nil, nil, nil
	}
	p, err := startDeepStack(path)
	if err != nil {
		return nil, nil, err
	}
	recorded, objects, err := p.record()
	if err != nil {
		return nil, nil, err
	}
	modules, err := compiled(objects, o.frame.Machine, recorded)
	if err != nil {
		return nil, nil, err
	}
	asked := func(how string, times int, goal float64) contender {
		return contender{name: "libunwind, " + how, goal: goal, run: func() (outcome, error) {
			return p.ask(strings.TrimPrefix(how, "unw_"), times)
		}}
	}
	newWalker := func() *unwind.Walker {
		return &unwind.Walker{Machine: o.frame.Machine, Modules: modules}
	}
	// follow walks the samples in turn. If forget is set, it forgets the path before each.
	follow := func(list []sample, forget bool) contender {
		w, trail := newWalker(), new(unwind.Trail)
		return contender{name: "clew", run: func() (outcome, error) {
			return fastest(func() (frames int) {
				for range 10 {
					for i := range list {
						if forget {
							trail.Forget()
						}
						w.Stack = list[i].stack
						w.Follow(trail, &list[i].registers)
						frames += trail.Len()
					}
				}
				return frames
			})
		}}
	}
	registers, w := newWalker(), newWalker()
	var trail unwind.Trail
	last := recorded[len(recorded)-1:]
	depth := 0
	registers.Stack, w.Stack = last[0].stack, last[0].stack
	for range registers.Walk(&last[0].registers) {
		depth++
	}
	name := func(work string) string { return fmt.Sprintf("%s of %d frames, 1000 frames", work, depth) }
	list := []*measurement{{
		name:  name("a warm stack"),
		clew:  follow(last, true),
		peers: []contender{asked("unw_backtrace", 20, 1), asked("unw_step", 2, 0)},
	}, {
		name: name("all registers of a warm stack"),
		clew: contender{name: "clew", run: func() (outcome, error) {
			return fastest(func() (frames int) {
				for range 10 {
					for range registers.Walk(&last[0].registers) {
						frames++
					}
				}
				return frames
			})
		}},
		peers: []contender{asked("unw_step", 2, 0)},
	}, {
		name:  name("the next sample of a thread"),
		clew:  follow(recorded, false),
		peers: []contender{asked("unw_backtrace", 20, 0), limit(3 * time.Microsecond)},
	}, {
		name:  name("the same sample again"),
		clew:  follow(last, false),
		peers: []contender{asked("unw_backtrace", 20, 0), limit(3 * time.Microsecond)},
	}, {
		name: name("addresses that are new to the walker"),
		clew: contender{name: "clew", run: func() (outcome, error) {
			return fastest(func() (frames int) {
				modules.Changed() // drops the caches
				trail.Forget()
				w.Follow(&trail, &last[0].registers)
				return trail.Len()
			})
		}},
		peers: []contender{asked("unw_step", 2, 0), limit(45 * time.Microsecond)},
	}, {
		name:  "random addresses of " + filepath.Base(o.path) + ", 1000 frames",
		clew:  randomAddresses(o),
		peers: []contender{asked("unw_step", 2, 0)},
	}}
	return list, p.stop, nil
}

// randomAddresses walks stacks of random addresses of the object. An address recurs after a
// long time, so that most of the time goes to cache misses of the table.
func randomAddresses(o *object) contender {
	const stacks, depth, base = 1000, 70, 1 << 40
	table := unwind.Compile(o.frame)
	sp := uint64(o.frame.Machine.StackPointer)
	var list []sample
	addresses := o.addresses
	next := func() (uint64, int64) {
		for {
			pc := addresses[0]
			addresses = addresses[1:]
			rules, err := table.Rules(pc)
			if err == nil && rules.CFA.Kind == cfi.Register && uint64(rules.CFA.Register) == sp && !rules.SignalFrame {
				return pc, rules.CFA.Offset
			}
		}
	}
	for range stacks {
		var s sample
		s.stack.Address = 0x7fff0000
		pc, size := next()
		s.registers.PC = base + pc
		s.registers.Set(sp, s.stack.Address)
		s.registers.Set(uint64(o.frame.Machine.FramePointer), 0)
		for i := range depth {
			s.stack.Bytes = append(s.stack.Bytes, make([]byte, size)...)
			pc, size = next()
			if i < depth-1 {
				o.frame.Machine.Order.PutUint64(s.stack.Bytes[len(s.stack.Bytes)-8:], base+pc+1)
			}
		}
		list = append(list, s)
	}
	m := &unwind.Module{Name: o.path, Bias: base, Source: table}
	var modules unwind.Modules
	modules.Add(base, base+1<<32, m)
	w := &unwind.Walker{Machine: o.frame.Machine, Modules: &modules}
	var trail unwind.Trail
	at := 0
	// As in a real profiler, the stack has just been copied. The copy is not timed.
	copied := make([]byte, 0, 1<<20)
	return contender{name: "clew", run: func() (outcome, error) {
		least := time.Duration(1 << 62)
		o, err := timed(func(o *outcome) error {
			for range bursts * 10 {
				if at++; at == stacks {
					at = 0
				}
				trail.Forget()
				copied = append(copied[:0], list[at].stack.Bytes...)
				w.Stack = unwind.Stack{Address: list[at].stack.Address, Bytes: copied}
				start := time.Now()
				w.Follow(&trail, &list[at].registers)
				least = min(least, time.Since(start)*1000/time.Duration(trail.Len()))
				o.entries = uint64(trail.Len())
			}
			return nil
		})
		o.took = least
		return o, err
	}}
}

// fastest returns the time for 1000 frames in the fastest of many bursts of walks.
func fastest(walk func() (frames int)) (outcome, error) {
	least := time.Duration(1 << 62)
	o, err := timed(func(o *outcome) error {
		for range bursts {
			start := time.Now()
			frames := walk()
			least = min(least, time.Since(start)*1000/time.Duration(frames))
			o.entries = uint64(frames)
		}
		return nil
	})
	o.took = least
	return o, err
}
