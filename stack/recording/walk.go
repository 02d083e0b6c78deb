// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"cmp"
	"encoding/hex"
	"errors"
	"math"
	"slices"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
	"github.com/clewdev/clew/unwind"
)

// walk is the state of walking stacks, kept for the next sample.
type walk struct {
	regs   unwind.Registers
	memory memory
	places []int32  // of the frames of the current sample
	user   []int32  // of its user part, if that was walked
	joined []int32  // after user, from the call chain: see join
	first  []uint64 // see common
	gap    bool     // places contains user, and callers can be missing in it

	crossed bool // callers can be missing between user and joined

	// walking are the spaces with a walker, the oldest at next.
	walking []*space
	next    int
}

// maxWalkers bounds the spaces with a walker, because a walker remembers addresses.
const maxWalkers = 64

// walker returns the walker of a space. It may take it from another space.
func (w *walk) walker(b *builder, s *space) *unwind.Walker {
	if s.walker != nil {
		return s.walker
	}
	s.walker = &unwind.Walker{MaxFrames: b.opts.MaxFrames, Memory: &w.memory}
	if len(w.walking) < maxWalkers {
		w.walking = append(w.walking, s)
		return s.walker
	}
	w.walking[w.next].walker = nil
	w.walking[w.next] = s
	w.next = (w.next + 1) % maxWalkers
	return s.walker
}

// forget drops the walker of a space that no process has any more.
func (w *walk) forget(s *space) {
	i := slices.Index(w.walking, s)
	if s.walker = nil; i < 0 {
		return
	}
	w.walking = slices.Delete(w.walking, i, i+1)
	if i < w.next {
		w.next--
	}
	if w.next >= len(w.walking) {
		w.next = 0
	}
}

// memory is the memory of a sample besides the copy of the stack: the content of files.
type memory struct {
	space   *space
	stack   unwind.Stack
	live    *callCopy // read while the process ran, but equal at the time of the sample; nil for none
	beyond  bool      // a read went past the end of the copy
	missing uint64    // the last address that could not be read, 0 for none
}

// maxStack is up to which distance above the stack pointer an address belongs to the stack.
const maxStack = 64 << 20

// ReadMemory implements cfi.Memory. The walker itself reads the copy.
func (m *memory) ReadMemory(p []byte, addr uint64) error {
	if m.live != nil && m.live.read(p, addr) {
		return nil
	}
	err := m.read(p, addr)
	if err != nil {
		m.missing = addr
	}
	return err
}

func (m *memory) read(p []byte, addr uint64) error {
	modules := &m.space.modules
	ranges, i := modules.Ranges(), modules.Index(addr)
	if i < len(ranges) && ranges[i].Start <= addr {
		if n := mappedBy(ranges[i].Module.Loaded()); n != nil && n.fits {
			return n.file.object.ReadMemory(p, addr-n.Bias)
		}
		if d, f := m.space.code.find(addr); f != nil {
			code := d.code.Code(f)
			if at := addr - f.Address; at < uint64(len(code)) && copy(p, code[at:]) == len(p) {
				return nil
			}
		}
		return errNotRecorded
	}
	if at := addr - m.stack.Address; at < maxStack {
		m.beyond = true
		return errBeyond
	}
	// Mappings of constants are not recorded, as they are not executable. They lie next to
	// the code of their file: the last mapping before the address, or the first after it.
	for _, at := range [...]int{i - 1, i} {
		if at < 0 || at >= len(ranges) {
			continue
		}
		n := mappedBy(ranges[at].Module)
		if n == nil || !n.file.opened {
			continue
		}
		if n.Loaded(); n.fits && n.file.object.ReadMemory(p, addr-n.Bias) == nil {
			return nil
		}
	}
	return errNotRecorded
}

// Rules implements unwind.Source for memory without an object file: it returns the rules of
// generated code of the space.
func (m *memory) Rules(pc uint64) (*unwind.Rules, error) { return m.space.code.rules(pc) }

var (
	errNotRecorded = errors.New("not in the recording")
	errBeyond      = errors.New("beyond the recorded copy of the stack")
)

func (b *builder) sample(r *perfdata.Record, s *perfdata.Sample) error {
	pid, tid := r.ID.PID, r.ID.TID
	t := b.thread(pid, tid)
	event := int32(max(r.ID.Attribute, 0))
	switches := b.opts.OffCPU && int(event) < len(b.switches) && b.switches[event]
	if int(event) >= len(b.rec.Events) {
		if event > 0 || len(b.rec.Events) > 0 {
			event = 0
		}
		if len(b.rec.Events) == 0 {
			b.rec.Events = append(b.rec.Events, Event{})
		}
	}
	if b.opts.Filter != nil {
		labels := t.labels()
		if !b.opts.Filter(&labels, b.rec.Events[event].Name) {
			return nil
		}
	}
	chain, cookie, deferred := cookieOf(s.Callchain)
	waits := deferred && !switches
	places, kernel, reason := b.stack(t, r, s, chain, waits)
	label := b.label(t)
	gap := b.walk.gap && reason != unwind.CallersMissing
	p := pendingSample{gap: gap, time: r.ID.Time, period: s.Period, cpu: r.ID.CPU, hasCPU: r.ID.Fields&perfdata.FieldCPU != 0,
		reason: reason, thread: label, event: event}
	if waits && !isWhole(reason) {
		return b.wait(t, deferredSample{pendingSample: p, cookie: cookie, places: places, kernel: kernel}, s)
	}
	p.node = b.rec.tree.Add(places)
	if switches {
		t.switchedAway(p)
		return nil
	}
	return b.count(p)
}

// isWhole reports whether a walk that ended for a reason has reached the outermost frame.
func isWhole(reason unwind.Reason) bool {
	return reason == unwind.EndOfStack || reason == unwind.CallersMissing
}

// stack returns the places of the frames of a sample, innermost first, how many of them are not in user mode, and
// why they end. Deferred says that the user part of the chain follows.
func (b *builder) stack(t *thread, r *perfdata.Record, s *perfdata.Sample, chain []uint64, deferred bool) (places []int32, kernel int, end unwind.Reason) {
	w := &b.walk
	w.places, w.gap, w.crossed = w.places[:0], false, false
	t.goLabels = ""
	p := t.process
	p.update(t, r.ID.Time)

	// The chain before its user part is used as it was recorded.
	mode := r.Misc.Mode()
	user := chain[len(chain):]
	first := true
	for i, ip := range chain {
		if ip >= perfdata.ContextMax {
			next, ok := modeOf(ip)
			if ok && next == perfdata.ModeUser {
				user = chain[i+1:]
				break
			}
			if ok {
				mode, first = next, true
			}
			continue
		}
		if inUser(mode) {
			user = chain[i:]
			break
		}
		w.places = append(w.places, b.place(b.foreign(mode, ip, !first)))
		first = false
	}
	if len(chain) == 0 && s.Fields&perfdata.FieldIP != 0 && !inUser(mode) {
		w.places = append(w.places, b.place(b.foreign(mode, s.IP, false)))
	}

	kernel = len(w.places)
	end = unwind.NoStack
	if chain != nil && s.Fields&perfdata.FieldCallchain != 0 {
		end = unwind.CallChain
	}
	w.joined = w.joined[:0]
	machine := s.UserRegs.Registers(b.machine, &w.regs)
	if machine != nil {
		p.machine = machine
		if end = b.unwind(t, s, machine, nil); !isWhole(end) && !deferred {
			end = b.cross(t, s, machine, user, r.ID.Time, end)
		}
		var known bool
		if t.goLabels, known = b.goLabels(t, machine, r.ID.Time); !known {
			if p.labels.doFrame(&t.trail) >= 0 {
				b.inDo++
			}
			if b.unlabelled++; len(p.labels.encoded) > 0 {
				b.opts.Live.Soon() // the goroutine went on
			}
		}
	}
	if !b.userPart(t, machine != nil, user, &end) && len(w.places) == 0 && s.Fields&perfdata.FieldIP != 0 {
		end = unwind.NoStack
		w.places = append(w.places, b.userPlace(p, s.IP, false))
	}
	return w.places, kernel, end
}

// userPart adds the frames in user mode: those that were walked until end, or those of the call chain if it has
// more. Without either it returns false.
func (b *builder) userPart(t *thread, walked bool, user []uint64, end *unwind.Reason) bool {
	w := &b.walk
	n, reason := countUser(user), unwind.CallChain
	if walked && !isWhole(*end) && n > len(w.user)+len(w.joined) {
		if code := t.process.codeOf(user); len(code) < len(user) {
			user, n, reason = code, countUser(code), *end
		}
	}
	switch {
	case walked && (isWhole(*end) || len(w.user)+len(w.joined) >= n):
		w.places = append(append(w.places, w.user...), w.joined...)
		w.gap = t.gap > 0 || w.crossed
	case n > 0:
		*end = reason
		b.chain(t, user)
	default:
		return false
	}
	return true
}

// codeOf returns the user part of a call chain up to the first caller that is not in code. Without frame
// pointers the kernel follows any value of the register. In glibc's clone3 that is the address of struct
// pthread, whose pointer to itself makes the chain as long as the kernel allows.
func (p *process) codeOf(user []uint64) []uint64 {
	first := true
	for i, ip := range user {
		if ip >= perfdata.ContextMax {
			continue
		}
		if !first {
			if module, executable := p.space.modules.Find(ip - 1); module == nil && !executable {
				return user[:i]
			}
		}
		first = false
	}
	return user
}

func inUser(mode perfdata.Mode) bool {
	return mode == perfdata.ModeUser || mode == perfdata.ModeUnknown
}

// chain adds the frames of the user part of a call chain.
func (b *builder) chain(t *thread, user []uint64) {
	w := &b.walk
	first := true
	for _, ip := range user {
		if ip >= perfdata.ContextMax {
			continue
		}
		w.places = append(w.places, b.userPlace(t.process, ip, !first))
		first = false
	}
}

func countUser(user []uint64) (n int) {
	for _, ip := range user {
		if ip < perfdata.ContextMax {
			n++
		}
	}
	return n
}

// modeOf returns the mode of the addresses after a marker in a call chain.
func modeOf(marker uint64) (perfdata.Mode, bool) {
	switch marker {
	case perfdata.ContextHypervisor:
		return perfdata.ModeHypervisor, true
	case perfdata.ContextKernel:
		return perfdata.ModeKernel, true
	case perfdata.ContextUser:
		return perfdata.ModeUser, true
	case perfdata.ContextGuestKernel, perfdata.ContextGuest:
		return perfdata.ModeGuestKernel, true
	case perfdata.ContextGuestUser:
		return perfdata.ModeGuestUser, true
	}
	return 0, false
}

// foreign returns the key of a place in the kernel, the hypervisor or a guest.
func (b *builder) foreign(mode perfdata.Mode, ip uint64, returns bool) placeKey {
	o := guest
	switch mode {
	case perfdata.ModeKernel:
		o = b.kernelObject()
	case perfdata.ModeHypervisor:
		o = hypervisor
	}
	return placeKey{object: o, address: ip, returns: returns}
}

// The code of a hypervisor and of virtual machines has no names. These objects are not
// among Recording.Objects.
var (
	hypervisor = &stack.Object{Name: "[hypervisor]", System: stack.Hypervisor}
	guest      = &stack.Object{Name: "[guest]", System: stack.Guest}
)

// unwind walks the user stack of a sample and sets b.walk.user. Live is memory besides that of the sample;
// it may be nil. unwind returns why the stack ends.
func (b *builder) unwind(t *thread, s *perfdata.Sample, machine *arch.Machine, live *callCopy) unwind.Reason {
	w := &b.walk
	space := t.process.space
	sp, _ := w.regs.Get(uint64(machine.StackPointer))
	walker := w.walker(b, space)
	w.memory = memory{space: space, stack: unwind.Stack{Address: sp, Bytes: s.UserStack}, live: live}
	walker.Machine, walker.Modules, walker.Stack = machine, &space.modules, w.memory.stack
	walker.Follow(&t.trail, &w.regs)
	walker.Stack = unwind.Stack{}
	b.placeTrail(t)
	reason := walker.Reason()
	cut := w.memory.beyond && (reason == unwind.NoRule || reason == unwind.UnreadableMemory)
	if n := t.trail.Len(); b.opts.Live != nil && n > 0 {
		end := t.trail.At(n - 1).SP
		if cut {
			end = sp + uint64(len(s.UserStack)) + 1
		}
		b.opts.Live.StackWalked(t.process.pid, t.tid, sp, end, reason == unwind.EndOfStack)
	}
	switch {
	case reason != unwind.EndOfStack && len(s.UserStack) == 0:
		b.uncopied++
		return unwind.NoStack
	case reason == unwind.EndOfStack && t.gap > 0:
		return unwind.CallersMissing
	case cut:
		b.longestCopy = max(b.longestCopy, uint32(len(s.UserStack)))
		return unwind.StackCut
	default:
		return reason
	}
}

// placeTrail finds the places of the walked frames. The places of the outer frames, which
// the thread's last walk had too, are known.
func (b *builder) placeTrail(t *thread) {
	w, trail, space := &b.walk, &t.trail, t.process.space
	n := trail.Len()
	fresh := n - min(trail.Kept(), len(t.places))
	w.user = append(w.user[:0], make([]int32, fresh)...)
	w.user = append(w.user, t.places[len(t.places)-(n-fresh):]...)
	if t.gap > n-fresh {
		t.gap = 0
	}
	known := t.gap > 0
	for i := range fresh {
		if !known && trail.At(i).Gap {
			t.gap = n - i
		}
		w.user[i] = space.place(b, t.process, trail.LookupPC(i))
	}
	t.places = append(t.places[:0], w.user...)
}

// userPlace returns the place of an address in user mode, which can be a return address.
func (b *builder) userPlace(p *process, ip uint64, returns bool) int32 {
	key, lookup := placeKey{address: ip, returns: returns}, ip
	if returns {
		lookup--
	}
	module, executable := p.space.modules.Find(lookup)
	m := mappedBy(module)
	if m != nil {
		if m.Loaded(); m.file.err == nil {
			key.object, key.address = b.objectOf(m.file), ip-m.Bias
			return b.place(key)
		}
	}
	if executable {
		if n, ok := b.generatedPlace(p, lookup, key); ok {
			return n
		}
	}
	if executable && m == nil && b.opts.Live != nil {
		key.perfMap = p.perfMap // it may have a name later
		own := len(b.unnamed) < maxOwnPlaces && b.ownPlaces < math.MaxInt32 && p.space.code.namedLater()
		if own {
			b.ownPlaces++
			key.function = b.ownPlaces
		}
		n, added := b.newPlace(key)
		if added {
			b.unnamed[n] = unnamedPlace{lookup: lookup, first: p.space.code.time, own: own, space: p.space, dumps: p.space.code.dumps, perfMap: p.perfMap}
			if p.lists != nil && len(p.lists.states) > 0 {
				b.opts.Live.Soon() // a function is new
			}
		}
		return n
	}
	if m != nil {
		// Without the file, its offset in the file identifies the place.
		key.object, key.address = b.objectOf(m.file), ip-m.start+m.offset
	}
	return b.place(key)
}

// generatedPlace returns the place of a key without an object, if it is in generated code.
func (b *builder) generatedPlace(p *process, lookup uint64, key placeKey) (int32, bool) {
	if d, f := p.space.code.find(lookup); f != nil {
		key.object, key.function = d.object(), int32(f.Order)
		n, added := b.newPlace(key)
		if added {
			d.name(&b.rec.places[n].Code, f)
		}
		return n, true
	}
	if p.space.code.stale() {
		return 0, false
	}
	if p.lists != nil {
		if n, ok := p.lists.place(lookup, key); ok {
			return n, true
		}
	}
	m := p.perfMap
	for n := 0; n < maxAncestors && m != nil; n, m = n+1, m.parent {
		if s, ok := m.find(lookup, p.space); ok {
			key.object = m.stackObject
			if b.opts.Live != nil {
				key.function = m.number(s.Name)
			}
			n, added := b.newPlace(key)
			if added {
				s.Name = b.copied(s.Name)
				b.rec.places[n].Symbol = s
			}
			return n, true
		}
	}
	return 0, false
}

func (b *builder) objectOf(f *file) *stack.Object {
	if f.stackObject == nil {
		f.stackObject = b.add(&stack.Object{Name: f.path, BuildID: f.buildID, Err: f.err, Go: f.tables.Go})
		if f.object != nil {
			f.stackObject.Path = f.object.Name()
			if b.opts.Hashes {
				f.stackObject.Hash = hex.EncodeToString(f.object.Hash())
				f.stackObject.BuildID = cmp.Or(f.buildID, hex.EncodeToString(f.object.BuildID()))
			}
		}
		b.fileOf[f.stackObject] = f
	}
	return f.stackObject
}
