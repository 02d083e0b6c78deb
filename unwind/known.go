// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package unwind

import (
	"fmt"
	"unsafe"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
)

// known holds the facts about one address of a frame.
type known struct {
	pc uint64
	plain
	_     [8 - unsafe.Sizeof(uintptr(0))]byte
	rules *Rules // nil if is lacks hasRules and isReturnedTo
}

// leavePlain relies on the size of a known.
var _ [entrySize]byte = [unsafe.Sizeof(known{})]byte{}

// knownAddresses is a hash table of the addresses that a walker has seen. Each address
// has two places, in one cache line. The table starts small, because many walkers walk
// only once.
type knownAddresses struct {
	called      []known // of frames that wait for a call to return
	interrupted []known
	modules     [2][]*Module // that contain LookupPC, in the order of called and interrupted
	lost        int          // replaced entries

	// The modules and the machine for which they hold.
	of         *Modules
	generation uint64
	machine    *arch.Machine
}

// More entries touch more pages. A small table is faster unless three alternating
// addresses share a place.
const (
	firstKnown = 1 << 10
	mostKnown  = 1 << 13
)

// place returns the even one of an address's places among n, a power of two.
func place(pc uint64, n int) uint64 { return (pc ^ pc>>9) & uint64(n-2) }

// check forgets everything if the modules have changed.
func (k *knownAddresses) check(w *Walker) {
	if k.of != w.Modules || k.generation != w.Modules.generation || k.machine != w.Machine {
		k.of, k.generation, k.machine = w.Modules, w.Modules.generation, w.Machine
		if k.called == nil {
			k.make(firstKnown)
		}
		clear(k.called)
		clear(k.interrupted)
		w.last = Range{}
	}
}

func (k *knownAddresses) make(n int) {
	k.called, k.interrupted, k.lost = make([]known, n), make([]known, n/4), 0
	k.modules = [2][]*Module{make([]*Module, n), make([]*Module, n/4)}
}

const isMet facts = 1 << 31 // distinguishes an entry from an empty place

// know returns the facts about an address, and looks them up the first time. They are
// valid until the next call.
func (w *Walker) know(pc uint64, interrupted bool) (*known, *Module) {
	entries, modules := w.known.called, w.known.modules[0]
	if interrupted {
		entries, modules = w.known.interrupted, w.known.modules[1]
	}
	at := place(pc, len(entries))
	if e := &entries[at]; e.pc == pc && e.is&isMet != 0 {
		return e, modules[at]
	}
	if e := &entries[at+1]; e.pc == pc && e.is&isMet != 0 {
		return e, modules[at+1]
	}
	return w.meet(pc, interrupted)
}

// meet looks up the facts about a new address.
func (w *Walker) meet(pc uint64, interrupted bool) (*known, *Module) {
	k := &w.known
	if k.lost > len(k.called) && len(k.called) < mostKnown {
		k.make(2 * len(k.called))
	}
	entries, modules := k.called, k.modules[0]
	if interrupted {
		entries, modules = k.interrupted, k.modules[1]
	}
	at := place(pc, len(entries))
	if entries[at].is&isMet != 0 {
		// Keep the most recent one.
		if entries[at+1].is&isMet != 0 {
			k.lost++
		}
		entries[at+1], modules[at+1] = entries[at], modules[at]
	}
	e := &entries[at]
	*e = known{pc: pc}
	e.is = isMet
	modules[at] = w.find(e, interrupted)
	return e, modules[at]
}

// find finds the rules and the module of an address.
func (w *Walker) find(e *known, interrupted bool) *Module {
	lookup := e.pc
	if !interrupted {
		lookup--
	}
	if w.Machine.ProbeSignalFrames && w.atSigreturn(e.pc) {
		module, _ := w.module(e.pc)
		e.is |= isExecutable | isTrampoline | looksUpAtPC
		return module
	}
	module, executable := w.module(lookup)
	if !executable && !interrupted {
		// A signal trampoline can be the first of its memory: see rulesAt.
		if m, first := w.module(e.pc); first && w.atSigreturn(e.pc) {
			module, executable = m, true
			e.is |= looksUpAtPC
			lookup = e.pc
		}
	}
	if executable {
		e.is |= isExecutable
	}
	rules, atPC, err := rulesAt(module, lookup, e.pc)
	if atPC {
		e.is |= looksUpAtPC
	}
	if err != nil {
		if executable && w.atSigreturn(e.pc) {
			e.is |= isTrampoline
		} else if e.rules = w.returnedTo(module, e.pc, interrupted, err); e.rules != nil {
			e.is |= looksUpAtPC | isReturnedTo
		} else if e.rules = w.derive(module, e.pc, lookup, err); e.rules != nil {
			e.is |= hasRules
		}
		return module
	}
	p := rules.plain
	if p.is == 0 {
		p = plainOf(rules, w.Machine) // the Source's own rules
	}
	if e.is&looksUpAtPC != 0 {
		p.is &^= isPlain | isOutermost
	}
	p.is |= e.is | hasRules
	if rules.SignalFrame {
		p.is |= isTrampoline
	} else if p.is&isPlain == 0 && leadsToBases(rules, w.Machine) {
		p.is |= needsBases
	}
	e.plain, e.rules = p, rules
	return module
}

// why returns the error that explains why a frame has no rules.
func (w *Walker) why(f *Frame) error {
	lookup := f.PC // not LookupPC: see returnedTo
	if !f.Interrupted {
		lookup--
	}
	_, _, err := rulesAt(f.Module, lookup, f.PC)
	return err
}

// rulesAt returns the rules that hold in a frame of a module, and whether they are
// those of pc itself. The error explains why there are none.
func rulesAt(m *Module, lookup, pc uint64) (rules *Rules, atPC bool, err error) {
	if m == nil {
		return nil, false, errNoModule(lookup)
	}
	m.Loaded()
	if m.Source == nil {
		return nil, false, fmt.Errorf("%w: %s has no call frame information", cfi.ErrNoFDE, m.Name)
	}
	rules, err = m.Source.Rules(lookup - m.Bias)
	if err != nil && lookup != pc {
		// A signal trampoline has no call instruction: its return address is its first
		// byte, and the byte before may belong to no function.
		if at, _ := m.Source.Rules(pc - m.Bias); at != nil && at.SignalFrame {
			return at, true, nil
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", m.Name, err)
	}
	return rules, false, nil
}

// errNoModule is the error for an address in no module. It is cheap because it is
// created often: for every frame that is left by its frame pointer.
type errNoModule uint64

func (e errNoModule) Error() string {
	return fmt.Sprintf("%v: %#x belongs to no module", cfi.ErrNoFDE, uint64(e))
}
func (e errNoModule) Unwrap() error { return cfi.ErrNoFDE }
