// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libgcc

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/clewdev/clew/jit"
)

// ErrTable means that the unwinders cannot use an unwind table: they would abort the
// process, or read invalid memory, when they meet it.
var ErrTable = errors.New("invalid unwind table")

// Publisher publishes to the unwinders of this process. All its values are equivalent. Its
// methods may be called concurrently.
type Publisher struct{}

// Publish implements jit.Publisher. Its errors wrap jit.ErrNotApplicable,
// jit.ErrCode, ErrTable, jit.ErrPublished or a *cfi.Error.
func (Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	b, err := process.publish(c)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Listening reports whether the process has an unwinder. It implements jit.Listener.
func (Publisher) Listening() bool {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.refresh()
	return len(process.unwinders) > 0
}

func init() { jit.Register(jit.StageRuntime, "libgcc", Publisher{}) }

var process = registry{find: findUnwinders, memory: processMemory{}}

// memory allocates sections. Nothing moves or collects them.
type memory interface {
	allocate(size int) []byte // aligned to a word
	release(b []byte)
}

// registry contains the generated code that the unwinders of the process know.
type registry struct {
	find   func() []*unwinder // in the process now
	memory memory

	mu        sync.Mutex
	unwinders []*unwinder
	lists     []*unwinder // that keep a list of sections
	index     index
	retired   []retired // oldest first

	// These buffers are reused.
	encoder   encoder
	validator validator
	gatherer  gatherer
	addresses []uintptr
	gone      []uint32
}

func (r *registry) publish(c *jit.Code) (*batch, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refresh(); len(r.unwinders) == 0 {
		return nil, fmt.Errorf("%w: no unwinder in the process", jit.ErrNotApplicable)
	}
	if c.Machine != nil && c.Machine != jit.Host() {
		return nil, fmt.Errorf("%w: the code is for %s, not for this machine", jit.ErrNotApplicable, c.Machine.Name)
	}
	r.releaseRetired()
	b, err := r.newBatch(c)
	switch {
	case err != nil:
		return nil, err
	case b.live == 0:
		return b, nil
	}
	if clash := r.index.insert(r, b); clash != nil {
		err := clash.error(c)
		r.memory.release(b.memory)
		return nil, err
	}
	b.register()
	return b, nil
}

// error returns an error that names the two functions.
func (x *clash) error(c *jit.Code) error {
	i := slices.IndexFunc(c.Functions, func(f jit.Function) bool { return f.Size > 0 && uintptr(c.Start(&f)) == x.added.start() })
	return jit.FunctionErrors{c.Fault(i, fmt.Errorf("%w: it overlaps a function of %#x bytes at %#x",
		jit.ErrPublished, x.published.size(), x.published.start()))}
}

// refresh looks for the unwinders in the process.
func (r *registry) refresh() {
	found := r.find()
	if slices.Equal(found, r.unwinders) {
		return
	}
	r.unwinders, r.lists = found, nil
	for _, u := range found {
		if u.flavour == sectionList {
			r.lists = append(r.lists, u)
		}
	}
}

// at returns the address of a section as the argument of an unwinder. It is valid until
// the next use of the registry's addresses.
func (r *registry) at(section []byte) []uintptr {
	r.addresses = append(r.addresses[:0], addressOf(section))
	return r.addresses
}

// retired is a section that was replaced.
type retired struct {
	memory []byte
	at     time.Time
}

// grace is the time for which a replaced section stays readable. An unwinder reads an FDE
// after it released its lock, until it is done with the frame, and does not report that.
const grace = 10 * time.Second

func (r *registry) retire(memory []byte) {
	r.retired = append(r.retired, retired{memory, time.Now()})
}

func (r *registry) releaseRetired() {
	if len(r.retired) == 0 {
		return
	}
	n, now := 0, time.Now()
	for n < len(r.retired) && now.Sub(r.retired[n].at) >= grace {
		r.memory.release(r.retired[n].memory)
		n++
	}
	r.retired = append(r.retired[:0], r.retired[n:]...)
}
