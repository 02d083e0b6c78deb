// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package trace

import (
	"fmt"
	"path"
	"strings"

	"github.com/clewdev/clew/internal/printable"
	"github.com/clewdev/clew/report/style"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

func appendNotes(dst []byte, notes []string) []byte {
	for i, note := range notes {
		if i == 0 {
			dst = append(dst, '\n')
		}
		dst = fmt.Appendf(dst, "note: %s\n", printable.Text(note))
	}
	return dst
}

// notes returns the notes on the stacks and on their variables.
func (s *Threads) notes() []string {
	notes := Notes(s.Stacks)
	if note := s.undescribed(); note != "" {
		notes = append(notes, note)
	}
	return append(notes, s.variableNotes()...)
}

// variableNotes returns why variables are missing. It is complete only after they were read.
func (s *Threads) variableNotes() (notes []string) {
	if s.Variables == nil {
		return nil
	}
	if err := s.Variables.Err(); err != nil {
		notes = printable.Lines(err)
	}
	if bare := s.Variables.Bare(); len(bare) > 0 && s.Advice != "" {
		var names []string
		for _, o := range bare {
			if o.Go {
				notes = append(notes, o.Name+" has no debugging information; arguments are the numbers that Go's own tracebacks print: "+
					"link the program without -s and -w")
			} else {
				names = append(names, o.Name)
			}
		}
		if len(names) == 0 {
			return notes
		}
		has := " has"
		if len(names) > 1 {
			has = " have"
		}
		notes = append(notes, strings.Join(names, ", ")+has+" no debugging information, so variables are missing: "+s.Advice)
	}
	return notes
}

// Notes returns remarks on stacks, as sentences without a full stop: how many threads could
// not be copied completely, and which objects lack call frame information. Frames of these
// objects were found by frame pointers, which skip callers of functions without one.
func Notes(stacks []stack.Stack) (notes []string) {
	if note := uncopied(stacks); note != "" {
		notes = append(notes, note)
	}
	seen := make(map[*stack.Object]bool)
	for i := range stacks {
		frames := stacks[i].Frames
		for k := 1; k < len(frames); k++ {
			// The rules of a frame lead to the next one.
			o := frames[k-1].Object
			if frames[k].Method != unwind.FromFramePointer || o == nil || !o.Bare || seen[o] {
				continue
			}
			seen[o] = true
			why := ""
			if o.Go {
				why = " (a Go program linked with -w has none)"
			}
			notes = append(notes, o.Name+" has no call frame information"+why+"; its frames were found by frame pointers")
		}
	}
	return notes
}

// uncopied returns a note with the number of threads that have frames but could not be copied
// completely, and the error of the first, or "".
func uncopied(stacks []stack.Stack) string {
	threads := make(map[int]bool)
	var first error
	for i := range stacks {
		t := stacks[i].Thread
		if t == nil || t.Err == nil || len(stacks[i].Frames) == 0 {
			continue
		}
		if first == nil {
			first = t.Err
		}
		threads[t.ID] = true
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("%s could not be copied completely: %v", style.Count(len(threads), "thread"), first)
}

// undescribed returns a note on frames in undescribed generated code of a live process, if
// the stack also has frames of a runtime that can describe its code. The note says how to
// make it do so.
func (s *Threads) undescribed() string {
	if s.Core != nil || s.PID == 0 {
		return ""
	}
	total, advice := 0, ""
	for i := range s.Stacks {
		frames, runtimeAdvice := 0, ""
		for k := range s.Stacks[i].Frames {
			if o := s.Stacks[i].Frames[k].Object; o == nil {
				frames++
			} else if runtimeAdvice == "" {
				runtimeAdvice = perfMapAdvice(path.Base(o.Name), s.PID)
			}
		}
		if runtimeAdvice != "" && frames > 0 {
			total, advice = total+frames, runtimeAdvice
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("no description of the generated code of %s: %s", style.Count(total, "frame"), advice)
}

// undescribed returns a note on samples in generated code without names, in processes with a runtime that can
// describe its code. The note says how to make it do so in the process with most of these samples.
func (r *Recording) undescribed() string {
	type process struct {
		samples uint64
		advice  string
	}
	processes := make(map[int32]process)
	for i := range r.Stacks {
		s := &r.Stacks[i]
		pid, unnamed := r.Threads[s.Thread].PID, false
		p := processes[pid]
		for _, f := range r.Frames(s) {
			if f.Object == nil {
				unnamed = unnamed || f.Symbol.Name == ""
			} else if p.advice == "" {
				p.advice = perfMapAdvice(path.Base(f.Object.Name), int(pid))
			}
		}
		if unnamed {
			p.samples += s.Samples
		}
		processes[pid] = p
	}
	most, samples := process{}, uint64(0)
	for _, p := range processes {
		if p.advice == "" || p.samples == 0 {
			continue
		}
		samples += p.samples
		if p.samples > most.samples || p.samples == most.samples && p.advice < most.advice {
			most = p
		}
	}
	if samples == 0 {
		return ""
	}
	return fmt.Sprintf("no description of the generated code in the stacks of %s: %s", plural(samples, "sample"), most.advice)
}

// perfMapAdvice returns how to make the runtime in a file describe its code.
func perfMapAdvice(file string, pid int) string {
	switch {
	case file == "libjvm.so": // JDK 17
		return fmt.Sprintf("run 'jcmd %d Compiler.perfmap'; for whole stacks, also start the JVM with -XX:+PreserveFramePointer", pid)
	case file == "node":
		return "start node with --perf-basic-prof --interpreted-frames-native-stack"
	case strings.HasPrefix(file, "php") || strings.HasPrefix(file, "libphp"):
		return "start PHP with -d opcache.jit_debug=0x100"
	}
	return ""
}
