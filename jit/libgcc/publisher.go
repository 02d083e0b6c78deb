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

// ErrTable says that an unwind table is one that the unwinders cannot take: they
// would abort the process, or run wild, where they meet it.
var ErrTable = errors.New("bad unwind table")

// ErrPublished says that a function overlaps one that is published already. The
// error that wraps it names the function and where the other one is.
var ErrPublished = errors.New("the code is published already")

// Publisher publishes to the unwinders of this process. All its values are equivalent. Its
// methods may be called concurrently.
type Publisher struct{}

// Publish implements jit.Publisher. Its errors wrap jit.ErrNotApplicable,
// jit.ErrCode, ErrTable, ErrPublished or a *cfi.Error.
func (Publisher) Publish(c *jit.Code) (jit.Registration, error) {
	b, err := process.publish(c)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func init() { jit.Register(jit.StageRuntime, "libgcc", Publisher{}) }

var process = registry{find: findUnwinders, memory: processMemory{}}

// memory is where sections lie: nothing may move or collect it.
type memory interface {
	allocate(size int) []byte // aligned for a word
	release(b []byte)
}

// registry is what the unwinders of a process know of generated code.
type registry struct {
	find   func() []*unwinder // those in the process now
	memory memory

	mu        sync.Mutex
	unwinders []*unwinder
	lists     []*unwinder // those of them that keep a list of sections
	index     index
	retired   []retired // in the order of time

	// Reused.
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
		return nil, fmt.Errorf("%w: no unwinder is in the process", jit.ErrNotApplicable)
	}
	if c.Machine != nil && c.Machine != jit.Host() {
		return nil, fmt.Errorf("%w: the code is for %s, the unwinders are not", jit.ErrNotApplicable, c.Machine.Name)
	}
	r.releaseRetired()
	b, err := r.newBatch(c)
	if err != nil || b.live == 0 {
		return b, err
	}
	if clash := r.index.insert(r, b); clash != nil {
		err := clash.in(c)
		r.memory.release(b.memory)
		return nil, err
	}
	b.register()
	return b, nil
}

// in returns what is wrong with the batch that was to be added.
func (x *clash) in(c *jit.Code) error {
	i := slices.IndexFunc(c.Functions, func(f jit.Function) bool { return uintptr(c.Start(&f)) == x.added.start() })
	f := &c.Functions[i]
	return fmt.Errorf("%w: function %q at %#x: its %#x bytes overlap a function of another batch, at %#x with %#x bytes",
		ErrPublished, f.Name, c.Start(f), f.Size, x.published.start(), x.published.size())
}

// refresh looks which unwinders are in the process now.
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

// at returns the address of a section for an unwinder. It is valid until the next
// use of the registry's addresses.
func (r *registry) at(section []byte) []uintptr {
	r.addresses = append(r.addresses[:0], addressOf(section))
	return r.addresses
}

// retired is a section that others have replaced.
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
