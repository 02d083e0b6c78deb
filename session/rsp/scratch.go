// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/session"
)

// scratch is memory that clients have allocated. lldb puts code that it has compiled from an
// expression there, and the code's data.
type scratch struct {
	regions []*region
	size    uint64 // bytes of all regions
}

// region is the memory of one request.
type region struct {
	memory *jit.Memory
	image  *session.Image // of executable memory
	freed  bool           // to be freed as soon as no code can be running there
}

// Limits of the memory that clients have at a time. lldb uses a few pages.
const (
	maxScratch = 64 << 20 // bytes
	maxRegions = 1 << 10
)

// scratchName is the name of images of scratch memory.
const scratchName = "clew_scratch"

var errScratch = errors.New("no more memory for the debugger")

// allocate returns the address of new memory. The client can write executable memory, the code cannot.
func (m *scratch) allocate(p program, size uint64, executable bool) (uint64, error) {
	if size == 0 || size > maxScratch-m.size || len(m.regions) >= maxRegions {
		return 0, fmt.Errorf("%w: %d bytes, and it has %d in %d parts", errScratch, size, m.size, len(m.regions))
	}
	memory, err := jit.NewMemory(int(size))
	if err != nil {
		return 0, err
	}
	r := &region{memory: memory}
	if executable {
		if err := r.execute(p); err != nil {
			return 0, errors.Join(err, memory.Close())
		}
	}
	m.regions = append(m.regions, r)
	m.size += uint64(len(memory.Bytes()))
	return memory.Address(), nil
}

// execute makes an image of the memory, because a session runs only code of images.
func (r *region) execute(p program) error {
	image, err := sealImage(r.memory, scratchName, len(r.memory.Bytes()), nil)
	if err != nil {
		return err
	}
	if err := p.AddImage(image); err != nil {
		return errors.Join(err, image.Close())
	}
	r.image = image
	return nil
}

// free frees memory of allocate, data at once and code later. It returns false if allocate has not
// returned the address.
func (m *scratch) free(address uint64) (ok bool, err error) {
	n := slices.IndexFunc(m.regions, func(r *region) bool { return !r.freed && r.memory.Address() == address })
	if n < 0 {
		return false, nil
	}
	r := m.regions[n]
	r.freed = true
	if r.image == nil {
		m.regions = slices.Delete(m.regions, n, n+1)
		m.size -= uint64(len(r.memory.Bytes()))
		err = r.memory.Close()
	}
	return true, err
}

// freeAll marks all regions as freed.
func (m *scratch) freeAll() {
	for _, r := range m.regions {
		r.freed = true
	}
}

// owns reports whether an image is of scratch memory. Such images are not published: the debugger
// itself has written them.
func (m *scratch) owns(i *session.Image) bool {
	return slices.ContainsFunc(m.regions, func(r *region) bool { return r.image == i })
}

// reclaim releases freed regions, unless the session is in a call, which may use them.
func (m *scratch) reclaim(p program) error {
	if inCall(p) {
		return nil
	}
	var errs []error
	m.regions = slices.DeleteFunc(m.regions, func(r *region) bool {
		if !r.freed {
			return false
		}
		m.size -= uint64(len(r.memory.Bytes()))
		if r.image != nil {
			errs = append(errs, p.RemoveImage(r.image), r.image.Close())
		}
		errs = append(errs, r.memory.Close())
		return true
	})
	return errors.Join(errs...)
}

func inCall(p program) bool {
	state := p.State()
	return state == session.Stopped || state == session.Running
}

// reclaim releases what former clients used, unless the session is still in a call.
func (v *Server) reclaim() {
	if len(v.scratch.regions) > 0 {
		v.failed.Add(v.scratch.reclaim(v.program))
	}
	if v.guard.id != 0 && !inCall(v.program) {
		v.failed.Add(v.removeGuard())
	}
}

// scratchPacket handles _M, which allocates memory, and _m, which frees it (lldb's
// docs/lldb-gdb-remote.txt).
func (c *client) scratchPacket(packet string) string {
	m := &c.server.scratch
	s := scanner{text: packet[2:]}
	number := s.number()
	if packet[1] == 'm' {
		ok, err := m.free(number)
		if !s.end() || !ok {
			return invalidPacket
		}
		return answer(err)
	}
	s.skip(",")
	if s.invalid || strings.Trim(s.text, "rwx") != "" {
		return invalidPacket
	}
	address, err := m.allocate(c.server.program, number, strings.Contains(s.text, "x"))
	if err != nil {
		c.log("--", err.Error())
		return failed(err)
	}
	return fmt.Sprintf("%x", address)
}
