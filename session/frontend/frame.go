// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package frontend

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/session"
	"github.com/clewdev/clew/unwind"
	"github.com/clewdev/clew/value"
)

// Frame is a frame as users count them: of a function, or of a call inlined into it.
type Frame struct {
	Level    int             // 0 is the innermost
	Physical *session.Frame  // the machine's frame, or one of a tail call; a function and its inlined calls share it
	Inner    int             // number of inlined calls inside of this one in the same physical frame
	Passed   int             // Inner plus the inlined calls at the address that are not entered yet
	Inlined  bool            // into the next frame
	Name     string          // of the function, "" if unknown
	Location object.Location // zero if unknown
	Scope    *value.Scope    // nil without debugging information
}

// address returns the lookup address of the frame without the load bias, as in debugging
// information.
func (f *Frame) address() uint64 { return f.Physical.LookupPC - f.Physical.Bias() }

// Locals returns the variables of the frame's blocks, the innermost block first, and its
// arguments. If a name occurs more than once, the first hides the others.
func (f *Frame) Locals() []*value.Variable {
	if f.Scope == nil {
		return nil
	}
	var list []*value.Variable
	for _, b := range f.Scope.Blocks {
		list = append(list, b.Variables...)
	}
	return append(list, f.Scope.Arguments...)
}

// Globals returns the global variables of the frame's compilation unit.
func (f *Frame) Globals() []*value.Variable {
	info := f.Physical.Info()
	if info == nil {
		return nil
	}
	list, err := info.Globals(f.address())
	if err != nil {
		return nil
	}
	return list
}

// Frames reads the frames of a stop on demand.
type Frames struct {
	session *session.Session
	list    []*Frame
	all     bool // list is the whole stack
	reason  unwind.Reason
	err     error
}

// NewFrames returns the frames of a session.
func NewFrames(s *session.Session) *Frames { return &Frames{session: s} }

// Load returns frames, innermost first: at least want frames if the stack has so many, or
// all frames if want is 0. The slice is valid until the next call.
func (s *Frames) Load(want int) ([]*Frame, error) {
	if s.all || want > 0 && len(s.list) >= want {
		return s.list, nil
	}
	limit := 0
	if want > 0 {
		want = max(want, 2*len(s.list))
		limit = max(want, 2) // the arguments of the innermost frame need its caller
	}
	stack, err := s.session.Stack(limit)
	if err != nil {
		return nil, err
	}
	s.list, s.all = nil, limit == 0 || len(stack.Frames) < limit
	s.reason, s.err = stack.Reason, stack.Err
	for f := range stack.All() {
		s.expand(f)
		if want > 0 && len(s.list) >= want { // do not search for more tail calls
			s.all = false
			break
		}
	}
	return s.list, nil
}

// Forget drops all frames. Callers use it after the code has run, or memory or a register
// has changed.
func (s *Frames) Forget() { s.list, s.all = nil, false }

// End returns the reason for the end of the stack. It is valid after Load(0).
func (s *Frames) End() (unwind.Reason, error) { return s.reason, s.err }

// displayed returns the name of a function as gdb shows it: that of an instance of a template is
// demangled, with the types of template arguments in their usual spelling.
func displayed(fn *value.Function) string {
	if fn.Language == value.CPlusPlus && strings.Contains(fn.Name, "<") && strings.HasPrefix(fn.LinkageName, "_Z") {
		if name, err := demangle.ToString(fn.LinkageName, demangle.NoParams, demangle.NoClones, demangle.MaxLength(maxDemangledPower)); err == nil {
			return name
		}
	}
	return fn.Display()
}

const maxDemangledPower = 12 // 4096 bytes

func (s *Frames) expand(p *session.Frame) {
	var scopes []*value.Scope
	if info := p.Info(); info != nil {
		scopes, _ = info.Scopes(p.LookupPC - p.Bias()) // without scopes there are no variables
	}
	// An inlined call that is not entered yet has a scope, but no location.
	skipped := 0
	if len(p.Locations) > 0 {
		skipped = max(0, len(scopes)-len(p.Locations))
	}
	scopes = scopes[skipped:]
	n := max(len(p.Locations), len(scopes), 1)
	for i := range n {
		f := &Frame{Level: len(s.list), Physical: p, Inner: i, Passed: skipped + i, Inlined: i < n-1, Name: p.Function.Name}
		if i < len(p.Locations) {
			f.Location = p.Locations[i]
			if f.Location.Function != "" {
				f.Name = f.Location.Function
			}
		}
		if i < len(scopes) {
			f.Scope = scopes[i]
			if f.Scope.Function != nil && f.Scope.Function.Name != "" {
				f.Name = displayed(f.Scope.Function)
			}
		}
		if f.Location.Line == 0 && strings.HasPrefix(f.Name, "_Z") { // without lines, such as a thunk
			if name, err := demangle.ToString(f.Name, demangle.NoClones, demangle.MaxLength(maxDemangledPower)); err == nil {
				f.Name = name
			}
		}
		s.list = append(s.list, f)
	}
}
