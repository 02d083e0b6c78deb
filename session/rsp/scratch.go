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

// scratch is the memory that clients have asked for: lldb puts code there that it
// has compiled of an expression, and that code's data.
type scratch struct {
	regions []*region
	size    uint64 // bytes of all
}

// region is memory of one request.
type region struct {
	memory *jit.Memory
	image  *session.Image // of memory that code may be run in
	freed  bool           // as soon as nothing can be running there
}

// Bounds of what clients can have at once; lldb takes a few pages a session.
const (
	maxScratch = 64 << 20 // bytes
	maxRegions = 1 << 10
)

// scratchName is what an image of scratch memory is called.
const scratchName = "clew_scratch"

var errScratch = errors.New("no more memory for the debugger")

// allocate returns the address of new memory. What is asked to be executable can be
// written by the client all the same, and by the code never.
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

// execute makes an image of the memory: only there can a session be sent.
func (r *region) execute(p program) error {
	if err := r.memory.Seal(); err != nil {
		return err
	}
	text := r.memory.Bytes()
	image, err := session.NewImage(&jit.Code{
		Name: scratchName, Address: r.memory.Address(), Text: text,
		Functions: []jit.Function{{Name: scratchName, Size: uint64(len(text))}},
	})
	if err != nil {
		return err
	}
	if err := p.AddImage(image); err != nil {
		return errors.Join(err, image.Close())
	}
	r.image = image
	return nil
}

// free gives back what allocate returned; false says that it did not return that.
// Data is the client's to take away at once.
func (m *scratch) free(address uint64) (ok bool, err error) {
	for n, r := range m.regions {
		if r.freed || r.memory.Address() != address {
			continue
		}
		r.freed = true
		if r.image == nil {
			m.regions = slices.Delete(m.regions, n, n+1)
			m.size -= uint64(len(r.memory.Bytes()))
			err = r.memory.Close()
		}
		return true, err
	}
	return false, nil
}

// freeAll gives everything back as soon as that is possible.
func (m *scratch) freeAll() {
	for _, r := range m.regions {
		r.freed = true
	}
}

// owns reports whether an image is of scratch memory. Debuggers know what they have
// put there; the symbol list need not tell them.
func (m *scratch) owns(i *session.Image) bool {
	for _, r := range m.regions {
		if r.image == i {
			return true
		}
	}
	return false
}

// reclaim gives back to the system what was freed, unless the session is in the
// middle of something, which may be there.
func (m *scratch) reclaim(p program) error {
	if state := p.State(); state == session.Stopped || state == session.Running {
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

// reclaim gives back what clients that are gone have left behind for as long as the
// session was in the middle of something.
func (v *Server) reclaim() {
	if len(v.scratch.regions) > 0 {
		v.failed.add(v.scratch.reclaim(v.program))
	}
	if v.guard.id != 0 && v.program.State() != session.Stopped && v.program.State() != session.Running {
		v.failed.add(v.removeGuard())
	}
}

// scratchPacket is _M, which allocates memory, and _m, which frees it (lldb's
// docs/lldb-gdb-remote.txt).
func (c *client) scratchPacket(packet string) string {
	m, p := &c.server.scratch, c.server.program
	s := scanner{rest: packet[2:]}
	number := s.number()
	if packet[1] == 'm' {
		ok, err := m.free(number)
		switch {
		case !s.end() || !ok:
			return badPacket
		case err != nil:
			return failed(err)
		}
		return "OK"
	}
	s.skip(",")
	if s.bad || strings.Trim(s.rest, "rwx") != "" {
		return badPacket
	}
	address, err := m.allocate(p, number, strings.Contains(s.rest, "x"))
	if err != nil {
		c.log("--", err.Error())
		return failed(err)
	}
	return fmt.Sprintf("%x", address)
}
