// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package survey

import (
	"cmp"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/clewdev/clew/check"
	"github.com/clewdev/clew/object"
)

// Survey says what to check. The zero value checks everything.
type Survey struct {
	// Functions select the functions to check, by their symbols. Without any, all are checked.
	Functions []func(symbol string) bool
	// Jobs is the number of parts, or of pieces of a large part, that are checked at the same time; 0
	// means the number of processors. The results do not depend on it.
	Jobs int
	// Scratch names registers that functions need not preserve: see check.Options.
	Scratch []string
	// Baseline holds known findings, which are removed from the results. It may be nil.
	Baseline *Baseline
	// Progress is called now and then with the number of functions that were checked, and the
	// number of all. Calls can be concurrent. It may be nil.
	Progress func(done, total int)

	matched []atomic.Bool // by index of Functions
	free    chan struct{} // a token for each job that may start
}

// divide runs the pieces of a part: on this goroutine, and on others while jobs are free.
func (s *Survey) divide(pieces []func()) {
	var others sync.WaitGroup
	defer others.Wait()
	for _, piece := range pieces {
		select {
		case <-s.free:
			others.Go(func() {
				defer func() { s.free <- struct{}{} }()
				piece()
			})
		default:
			piece()
		}
	}
}

// Result is the result of checking one part.
type Result struct {
	*Part
	*check.Report                 // empty if the part could not be checked
	Known         []check.Finding // those that the baseline holds; Findings lacks them
	Err           error           // what could not be checked
	Failed        bool            // nothing could be checked
}

// Check checks parts and yields their results in the order of the parts.
func (s *Survey) Check(parts []*Part) iter.Seq[*Result] {
	return func(yield func(*Result) bool) {
		s.matched = make([]atomic.Bool, len(s.Functions))
		done := s.counter(parts)
		results := make([]chan *Result, len(parts))
		for i := range results {
			results[i] = make(chan *Result, 1)
		}
		var next atomic.Int64
		var workers sync.WaitGroup
		var stopped atomic.Bool
		jobs := max(1, cmp.Or(s.Jobs, runtime.GOMAXPROCS(0)))
		s.free = make(chan struct{}, jobs)
		for range jobs {
			s.free <- struct{}{}
		}
		for range min(jobs, len(parts)) {
			<-s.free
			workers.Go(func() {
				defer func() { s.free <- struct{}{} }() // for the pieces of the last parts
				for !stopped.Load() {
					i := int(next.Add(1)) - 1
					if i >= len(parts) {
						return
					}
					results[i] <- s.check(parts[i], done)
				}
			})
		}
		defer func() {
			stopped.Store(true)
			workers.Wait()
		}()
		for _, ready := range results {
			r := <-ready
			if s.Baseline != nil {
				r.Findings, r.Known = s.Baseline.remove(r)
			}
			r.Defective = defective(r.Findings)
			if !yield(r) {
				return
			}
		}
	}
}

// Unmatched returns the indexes of the Functions that have selected nothing.
func (s *Survey) Unmatched() (list []int) {
	for i := range s.matched {
		if !s.matched[i].Load() {
			list = append(list, i)
		}
	}
	return list
}

// counter returns a function that counts a checked function. It returns nil if nobody is
// interested.
func (s *Survey) counter(parts []*Part) func() {
	if s.Progress == nil {
		return nil
	}
	total := 0
	for _, p := range parts {
		total += p.functions()
	}
	var done atomic.Int64
	return func() { s.Progress(min(int(done.Add(1)), total), total) }
}

func (s *Survey) check(p *Part, done func()) *Result {
	options := check.Options{Scratch: s.Scratch, Divide: s.divide}
	if done != nil || len(s.Functions) > 0 {
		selected := s.selection(p)
		options.Skip = func(start, end uint64) bool {
			if done != nil {
				done()
			}
			return len(s.Functions) > 0 && !s.selects(selected, start, end)
		}
	}
	r := &Result{Part: p}
	if r.Report, r.Err = p.check(options); r.Report == nil {
		r.Report, r.Failed = new(check.Report), true
	}
	return r
}

// selected is a symbol that a function of Survey.Functions has selected.
type selected struct {
	address uint64
	by      int
}

// selection returns the symbols of a part that s selects, by address.
func (s *Survey) selection(p *Part) (list []selected) {
	_ = object.Guard(func() error { // the check reports the errors
		for i, match := range s.Functions {
			for symbol := range p.symbols {
				if match(symbol.Name) {
					list = append(list, selected{symbol.Address, i})
				}
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b selected) int { return cmp.Compare(a.address, b.address) })
	return list
}

// selects reports whether a range of addresses starts or contains a selected symbol.
func (s *Survey) selects(list []selected, start, end uint64) (found bool) {
	i, _ := slices.BinarySearchFunc(list, start, func(e selected, start uint64) int { return cmp.Compare(e.address, start) })
	for ; i < len(list) && list[i].address < end; i++ {
		s.matched[list[i].by].Store(true)
		found = true
	}
	return found
}

// defective returns the number of functions with a finding.
func defective(findings []check.Finding) int {
	functions := make(map[uint64]bool)
	for i := range findings {
		functions[findings[i].Function] = true
	}
	delete(functions, 0) // of findings about other entries
	return len(functions)
}
