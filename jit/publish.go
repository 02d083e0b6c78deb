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
	// Publish makes a batch known. It calls Code.Check first, and keeps no reference to
	// the Code. If it returns an error, nothing is registered.
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
	StageRuntime // libgcc's or LLVM's unwinder
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
// they are imported.
func Register(stage Stage, name string, p Publisher) {
	publishersMu.Lock()
	defer publishersMu.Unlock()
	publishers = append(slices.Clip(publishers), registered{stage, name, p})
	slices.SortStableFunc(publishers, func(a, b registered) int { return cmp.Compare(a.stage, b.stage) })
}

// ErrNotApplicable is returned by a publisher without a reader: the environment does not ask
// for perf, or the program has no C runtime. Publish skips such a publisher.
var ErrNotApplicable = errors.New("no reader for published code")

// Publication is a batch that several publishers have published.
type Publication struct {
	names         []string
	registrations []Registration // of names, in the order of publishing
	failed        error
}

// Publish publishes a batch with every registered publisher that applies: perf, then gdb,
// then libgcc or LLVM, then libunwind. The failure of one does not affect the others;
// Publication.Failed returns the errors. Publish returns an error, and has registered
// nothing, if the description is invalid or if all publishers that apply failed. It may be
// called concurrently.
func Publish(c *Code) (*Publication, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: it is nil", ErrCode)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Machine != nil && c.Machine != Host() {
		return nil, fmt.Errorf("%w: it is for %s, not for the machine of this program", ErrCode, c.Machine.Name)
	}
	publishersMu.RLock()
	all := publishers
	publishersMu.RUnlock()
	p := new(Publication)
	var failed []error
	for _, r := range all {
		registration, err := r.publisher.Publish(c)
		switch {
		case err == nil:
			p.names = append(p.names, r.name)
			p.registrations = append(p.registrations, registration)
		case !errors.Is(err, ErrNotApplicable):
			failed = append(failed, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	p.failed = errors.Join(failed...)
	if len(p.registrations) == 0 && p.failed != nil {
		return nil, p.failed
	}
	return p, nil
}

// Failed returns the errors of the publishers that could not publish the batch, joined, or
// nil.
func (p *Publication) Failed() error { return p.failed }

// Publishers returns the names of the publishers that have published the batch, in the order
// in which they were called.
func (p *Publication) Publishers() []string { return slices.Clone(p.names) }

// Withdraw withdraws the batch from its publishers, in reverse order: see
// Registration.Withdraw. The error of one does not affect the others.
func (p *Publication) Withdraw() error {
	return p.reverse(func(r Registration) error { return r.Withdraw() })
}

// WithdrawFunctions withdraws functions of the batch, by their indexes in
// Code.Functions, from its publishers, in reverse order: see
// Registration.WithdrawFunctions. The error of one does not affect the others.
func (p *Publication) WithdrawFunctions(functions ...int) error {
	return p.reverse(func(r Registration) error { return r.WithdrawFunctions(functions...) })
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
