// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Publisher makes generated code known to one tool. Its methods may be called concurrently.
type Publisher interface {
	// Publish makes a batch known. It calls Code.Check first, omits functions of Size 0, and
	// keeps no reference to the Code. If it returns an error, nothing is registered. The error
	// is or wraps FunctionErrors if it could publish the other functions. If functions overlap
	// published ones, they wrap ErrPublished: see Published.
	Publish(c *Code) (Registration, error)
}

// A Registration is a batch that a Publisher has published. Its methods may be called
// concurrently.
type Registration interface {
	// Withdraw makes all remaining functions of the batch unknown. The caller calls it
	// before it frees the memory of the code. A second call is not an error.
	Withdraw() error

	// WithdrawFunctions makes some functions of the batch unknown, by their indexes in
	// Code.Functions. It skips functions that are withdrawn already. For an index outside
	// of the batch the error wraps ErrCode, and nothing is withdrawn. One call for several
	// functions is faster than several calls.
	WithdrawFunctions(functions ...int) error
}

// Stage is the place of a publisher in the order in which Publish calls them:
// profilers first, so that no sample is lost; then debuggers, which may stop the
// program; then the unwinders of the program itself.
type Stage uint8

const (
	StagePerf Stage = iota
	StageGDB
	StageRuntime // Go's runtime, and libgcc's or LLVM's unwinder
	StageLibunwind
)

type registered struct {
	stage     Stage
	name      string
	publisher Publisher
}

var (
	publishersMu sync.RWMutex
	publishers   []registered // sorted by stage; replaced, never changed
)

// Register adds a publisher to those that Publish calls. Packages of publishers call it when
// they are imported. It panics if p is nil.
func Register(stage Stage, name string, p Publisher) {
	if p == nil {
		panic(fmt.Sprintf("jit: Register(%d, %q, nil): the publisher is nil", stage, name))
	}
	publishersMu.Lock()
	defer publishersMu.Unlock()
	publishers = append(slices.Clip(publishers), registered{stage, name, p})
	slices.SortStableFunc(publishers, func(a, b registered) int { return cmp.Compare(a.stage, b.stage) })
}

// ErrNotApplicable is returned by a publisher without a reader: the environment does not ask
// for perf, or the program has no C runtime. Publish skips such a publisher.
var ErrNotApplicable = errors.New("no reader for published code")

// A Listener is a Publisher that knows whether it has a reader.
type Listener interface {
	Publisher

	// Listening reports whether published code has a reader, or may get one later. It calls
	// the system only the first time.
	Listening() bool
}

// Listening reports whether anybody will look at published code: whether a registered
// publisher applies, and has or may have a reader. If not, a program need not describe its
// code, but code that it does not publish stays unknown when the answer changes. It makes no
// system call, except the first time.
//
//   - perf (package environment) has a reader if CLEW_PERF asks for it.
//   - gdb and lldb may attach at any time. With gdb.Publisher.OnDemand only an attached
//     debugger counts.
//   - libgcc, LLVM and libunwind have one if they are in the process. They use no names and
//     no lines.
func Listening() bool {
	publishersMu.RLock()
	all := publishers
	publishersMu.RUnlock()
	for _, r := range all {
		if l, ok := r.publisher.(Listener); !ok || l.Listening() {
			return true
		}
	}
	return false
}

// Publication is a batch that several publishers have published. The methods of a nil
// Publication do nothing.
type Publication struct {
	names         []string
	registrations []Registration // of names, in the order of publishing
	functions     int            // of the batch
	rejected      FunctionErrors
	failed        error

	mu    sync.Mutex
	claim *claim // nil if nothing is published
}

// Publish publishes a batch with every registered publisher that applies: perf, then gdb,
// then Go's runtime and libgcc or LLVM, then libunwind. It may be called concurrently.
//
// The failure of one publisher does not affect the others, and a function at fault does
// not affect the other functions: Publication.Failed returns these errors, and
// Publication.Rejected the functions. Publish returns an error, and has registered nothing, if
// the description of the batch is invalid, if all its functions are at fault, or if all
// publishers that apply failed.
func Publish(c *Code) (*Publication, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: it is nil", ErrCode)
	}
	p := &Publication{functions: len(c.Functions)}
	empty, err := c.check()
	if err != nil {
		if !errors.As(err, &p.rejected) {
			return nil, err
		}
	}
	if c.Machine != nil && c.Machine != Host() {
		return nil, fmt.Errorf("%w: it is for %s, not for the machine of this program", ErrCode, c.Machine.Name)
	}
	checked := *c
	checked.checked = true
	batch := subset{code: &checked}
	if len(p.rejected) > 0 || empty {
		batch = batch.without(p.rejected)
	}
	publishersMu.RLock()
	all := publishers
	publishersMu.RUnlock()
	if len(all) > 0 && len(batch.code.Functions) > 0 {
		p.claim = newClaim(batch.code)
		p.claim.index = batch.index
		if faults := published.add(p.claim, batch.code); len(faults) > 0 {
			p.reject(batch.adjust(faults))
			batch = batch.without(faults)
		}
	}
	if len(batch.code.Functions) == 0 {
		p.unclaim()
		if len(p.rejected) > 0 {
			return nil, p.rejected
		}
		return p, nil // it has only empty functions
	}
	var failed []error
	finished := false
	defer func() {
		if !finished { // NameOf or LinesOf has panicked, and the program may recover
			_ = p.Withdraw()
		}
	}()
	for _, r := range all {
		registration, err := p.publish(r, batch)
		switch {
		case err == nil:
			p.names = append(p.names, r.name)
			p.registrations = append(p.registrations, registration)
		case !errors.Is(err, ErrNotApplicable):
			failed = append(failed, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	finished = true
	if len(p.registrations) == 0 {
		p.unclaim()
		if len(failed) > 0 {
			return nil, errors.Join(append(failed, p.rejected.Err())...)
		}
	}
	p.failed = errors.Join(append(failed, p.rejected.Err())...)
	return p, nil
}

// publish calls a publisher. If functions are at fault for this publisher, it publishes the
// others.
func (p *Publication) publish(r registered, batch subset) (Registration, error) {
	for {
		registration, err := r.publisher.Publish(batch.code)
		if err == nil {
			if batch.index != nil {
				registration = &part{registration, batch.index}
			}
			return registration, nil
		}
		var faults FunctionErrors
		if !errors.As(err, &faults) || !faults.within(len(batch.code.Functions)) || len(faults) == len(batch.code.Functions) {
			return nil, err
		}
		named := batch.adjust(faults)
		for i, f := range named {
			g := *f
			g.Err = fmt.Errorf("%s: %w", r.name, f.Err)
			named[i] = &g
		}
		p.reject(named)
		batch = batch.without(faults)
	}
}

// reject adds functions at fault.
func (p *Publication) reject(faults FunctionErrors) {
	p.rejected = append(p.rejected, faults...)
	slices.SortStableFunc(p.rejected, func(a, b *FunctionError) int { return a.Index - b.Index })
}

func (p *Publication) unclaim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claim != nil {
		published.remove(p.claim)
		p.claim = nil
	}
}

// Failed returns the errors of the publishers that could not publish the batch, and of the
// functions that were rejected, joined, or nil.
func (p *Publication) Failed() error {
	if p == nil {
		return nil
	}
	return p.failed
}

// Rejected returns the functions at fault, in ascending order of their indexes. No publisher
// has a function whose description is invalid or whose addresses are published already. A
// function that is at fault for one publisher is known to the others; the error names the
// publisher, and there may be several for one function.
func (p *Publication) Rejected() FunctionErrors {
	if p == nil {
		return nil
	}
	return slices.Clone(p.rejected)
}

// Publishers returns the names of the publishers that have published the batch, in the order
// in which they were called.
func (p *Publication) Publishers() []string {
	if p == nil {
		return nil
	}
	return slices.Clone(p.names)
}

// Withdraw withdraws the batch from its publishers, in reverse order: see
// Registration.Withdraw. The error of one does not affect the others.
func (p *Publication) Withdraw() error {
	if p == nil {
		return nil
	}
	defer p.unclaim()
	return p.reverse(func(r Registration) error { return r.Withdraw() })
}

// WithdrawFunctions withdraws functions of the batch, by their indexes in
// Code.Functions, from its publishers, in reverse order: see
// Registration.WithdrawFunctions. The error of one does not affect the others.
func (p *Publication) WithdrawFunctions(functions ...int) error {
	if p == nil || len(functions) == 0 {
		return nil
	}
	for _, f := range functions {
		if f < 0 || f >= p.functions {
			return fmt.Errorf("%w: no function %d: the batch has %d functions", ErrCode, f, p.functions)
		}
	}
	err := p.reverse(func(r Registration) error { return r.WithdrawFunctions(functions...) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claim != nil {
		published.release(p.claim, functions)
	}
	return err
}

func (p *Publication) reverse(withdraw func(Registration) error) error {
	var failed []error
	for i, r := range slices.Backward(p.registrations) {
		if err := withdraw(r); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.names[i], err))
		}
	}
	return errors.Join(failed...)
}
