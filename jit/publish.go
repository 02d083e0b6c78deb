// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package jit

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Publisher makes generated code known to one tool. Its methods may be called
// from several goroutines.
type Publisher interface {
	// Publish makes a batch known. It calls Code.Check first, and keeps nothing
	// of the Code. Where it returns an error, nothing is registered.
	Publish(c *Code) (Registration, error)
}

// A Registration is a batch that was made known. Its methods may be called from
// several goroutines.
type Registration interface {
	// Withdraw makes all functions of the batch unknown that are not already. It
	// is called before the memory of the code is given back. To call it again is
	// no error.
	Withdraw() error

	// WithdrawFunctions makes some functions of the batch unknown, by their
	// indexes in Code.Functions, and the others stay. Those that are unknown
	// already are passed over; for an index that the batch does not have there is
	// an error that wraps ErrCode, and nothing is withdrawn. One call for many is
	// faster than one for each.
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
	publishers   []registered // by stage; replaced, never changed
)

// Register adds a publisher to those that Publish uses. Packages of publishers
// call it when they are imported.
func Register(stage Stage, name string, p Publisher) {
	publishersMu.Lock()
	defer publishersMu.Unlock()
	publishers = append(slices.Clip(publishers), registered{stage, name, p})
	slices.SortStableFunc(publishers, func(a, b registered) int { return int(a.stage) - int(b.stage) })
}

// ErrNotApplicable is returned by a publisher that has no reader here: perf was not
// asked for, or the program has no C runtime. Publish skips such a publisher.
var ErrNotApplicable = errors.New("no reader for published code")

// Publication is a batch that was made known by several publishers.
type Publication struct {
	names         []string
	registrations []Registration // of names, in the order of publishing
	failed        error
}

// Publish publishes a batch with every registered publisher that applies here:
// perf, then gdb, then libgcc or LLVM, then libunwind. The failure of one does not
// affect the others; Publication.Failed returns the errors. Publish itself fails,
// and then registers nothing, if the description is not valid, or if all publishers
// that apply have failed. It may be called from several goroutines.
func Publish(c *Code) (*Publication, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: it is nil", ErrCode)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Machine != nil && c.Machine != Host() {
		return nil, fmt.Errorf("%w: it is for %s, and this program does not run on one", ErrCode, c.Machine.Name)
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

// Failed returns what publishers that could not publish the batch said, joined,
// or nil.
func (p *Publication) Failed() error { return p.failed }

// Publishers returns the names of the publishers that know the batch, in the
// order in which they were called.
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
	for i := len(p.registrations) - 1; i >= 0; i-- {
		if err := withdraw(p.registrations[i]); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.names[i], err))
		}
	}
	return errors.Join(failed...)
}
