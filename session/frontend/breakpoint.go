// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"bytes"
	"errors"
	"slices"

	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/value"
)

// Breakpoints is the table of a front end's breakpoints and watchpoints. Breakpoints of a
// session are immutable. The breakpoints in the table have the properties that users change.
// T is the type of the front end's own data of a breakpoint.
type Breakpoints[T any] struct {
	policy Conditions
	values *Values
	list   []*Breakpoint[T]
	last   int // the last number
}

// NewBreakpoints returns an empty table for the session of v.
func NewBreakpoints[T any](v *Values, c Conditions) *Breakpoints[T] {
	return &Breakpoints[T]{policy: c, values: v}
}

// Breakpoint is a breakpoint or watchpoint with the number that users see. It is pending
// while both Set and Watch are nil.
type Breakpoint[T any] struct {
	Number    int
	Location  string // as the user names it
	Temporary bool
	Hardware  bool
	Disabled  bool

	Hits   int            // hits with a true condition
	Ignore int            // number of stops that are skipped from now on
	Counts func(int) bool // reports whether a hit, counted from 1, stops; nil: all stop

	Log func(*session.Frame) error // runs instead of a stop, if it is not nil

	Set   *session.Breakpoint // nil for watchpoints
	Watch *Watch              // nil for breakpoints
	Own   T                   // data of the front end

	condition *located
}

// Watch is the part of a breakpoint that watches memory.
type Watch struct {
	*session.Watchpoint

	ReadOnly bool        // stop only if the value has not changed
	Type     *value.Type // of the object
	Last     []byte      // the bytes that the front end showed last
}

// Condition returns the text of the breakpoint's condition, "" without one.
func (b *Breakpoint[T]) Condition() string {
	if b.condition == nil {
		return ""
	}
	return b.condition.text
}

// ID returns the breakpoint's ID in the session, 0 while it is pending.
func (b *Breakpoint[T]) ID() int {
	switch {
	case b.Set != nil:
		return b.Set.ID
	case b.Watch != nil:
		return b.Watch.ID
	}
	return 0
}

// List returns the breakpoints in the order in which they were added. The caller owns the
// slice.
func (t *Breakpoints[T]) List() []*Breakpoint[T] { return slices.Clone(t.list) }

// Last returns the number of the breakpoint that was added last.
func (t *Breakpoints[T]) Last() int { return t.last }

// Numbered returns the breakpoint with a number, or nil.
func (t *Breakpoints[T]) Numbered(n int) *Breakpoint[T] {
	i := slices.IndexFunc(t.list, func(b *Breakpoint[T]) bool { return b.Number == n })
	if i < 0 {
		return nil
	}
	return t.list[i]
}

// At returns the breakpoints and watchpoints at which a session has stopped.
func (t *Breakpoints[T]) At(stop *session.Stop) []*Breakpoint[T] {
	var list []*Breakpoint[T]
	for _, b := range t.list {
		if b.Set != nil && b.Set == stop.Breakpoint || b.Watch != nil && slices.Contains(stop.Watchpoints, b.Watch.Watchpoint) {
			list = append(list, b)
		}
	}
	return list
}

// Add adds a breakpoint with the next number.
func (t *Breakpoints[T]) Add(b *Breakpoint[T]) {
	t.last++
	b.Number = t.last
	t.list = append(t.list, b)
}

// Drop removes a breakpoint from the table, not from the session.
func (t *Breakpoints[T]) Drop(b *Breakpoint[T]) {
	t.list = slices.DeleteFunc(t.list, func(other *Breakpoint[T]) bool { return other == b })
}

// SetCondition changes the condition of a breakpoint. An empty text removes it. The text
// must compile at the addresses: at all or at one, see Conditions. Without addresses it
// must compile in the frame f, which is nil outside of calls.
func (t *Breakpoints[T]) SetCondition(b *Breakpoint[T], text string, addresses []uint64, f *Frame) error {
	if text == "" {
		b.condition = nil
		return nil
	}
	c, err := t.values.locate(text, addresses, f, &t.policy)
	if err != nil {
		return err
	}
	b.condition = c
	return nil
}

// Break sets a breakpoint in the session: at a location, or, if that is "", at an address.
// The session needs the location to distinguish calls that are inlined at the same address.
func (t *Breakpoints[T]) Break(b *Breakpoint[T], location string, address uint64) (err error) {
	if location != "" {
		b.Set, err = t.values.session.BreakAt(location, t.options(b))
	} else {
		b.Set, err = t.values.session.Break(address, t.options(b))
	}
	return err
}

// WatchMemory sets a watchpoint in the session.
func (t *Breakpoints[T]) WatchMemory(b *Breakpoint[T], w *Watch, address uint64, size int, access session.Access) error {
	w.Last = make([]byte, size)
	if err := t.values.session.ReadMemory(w.Last, address); err != nil {
		return err
	}
	set, err := t.values.session.Watch(address, size, access, t.options(b))
	if err != nil {
		return err
	}
	w.Watchpoint = set
	b.Watch = w
	return nil
}

func (t *Breakpoints[T]) options(b *Breakpoint[T]) *session.BreakpointOptions {
	return &session.BreakpointOptions{Temporary: b.Temporary, Hardware: b.Hardware, Log: b.Log,
		Condition: func(f *session.Frame) (bool, error) { return t.hit(b, f) }}
}

// hit reports whether a breakpoint stops at a frame that has reached it. The goroutine
// that controls the session calls it.
func (t *Breakpoints[T]) hit(b *Breakpoint[T], f *session.Frame) (bool, error) {
	if w := b.Watch; w != nil && w.ReadOnly {
		// The debug registers of amd64 do not distinguish reads from writes.
		current := make([]byte, len(w.Last))
		if err := t.values.session.ReadMemory(current, w.Address); err == nil && !bytes.Equal(current, w.Last) {
			w.Last = current
			return false, nil
		}
	}
	if b.condition != nil {
		yes, err := b.condition.holds(f)
		if err != nil {
			return true, t.policy.Failed(b.Number, b.condition.text, err)
		}
		if !yes {
			return false, nil
		}
	}
	b.Hits++
	if b.Counts != nil && !b.Counts(b.Hits) {
		return false, nil
	}
	if b.Ignore > 0 {
		b.Ignore--
		return false, nil
	}
	return true, nil
}

// Enable switches a breakpoint on or off.
func (t *Breakpoints[T]) Enable(b *Breakpoint[T], on bool) error {
	b.Disabled = !on
	return t.values.session.Enable(b.ID(), on)
}

// Unset removes a breakpoint from the session. The table keeps it as pending.
func (t *Breakpoints[T]) Unset(b *Breakpoint[T]) error {
	if b.ID() == 0 {
		return nil
	}
	err := t.values.session.Remove(b.ID())
	b.Set = nil
	// A breakpoint can be removed while hit reads its Watch. A watchpoint is removed only while
	// no code runs.
	if b.Watch != nil {
		b.Watch = nil
	}
	if errors.Is(err, session.ErrNotFound) { // it has removed itself
		return nil
	}
	return err
}
