// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package stack

import (
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
	"github.com/clewdev/clew/unwind"
)

// Sampler walks the stacks of a target repeatedly and counts equal ones. It walks only the
// part of a stack that differs from the thread's previous one. It is not safe for concurrent
// use.
type Sampler struct {
	// Stacks are the different stacks of each thread in the order of their first samples,
	// without names: Objects.Name can name slices of them. The Thread of a Stack only has
	// an ID, a name and an Err.
	Stacks []Stack
	// Counts are the numbers of samples of the Stacks.
	Counts []int
	// Lost is the number of samples that were dropped because there were too many
	// different stacks.
	Lost int

	// LatePages, if not nil, is called for a stack whose walk read writable memory after the
	// target continued to run, with the addresses of the pages (ThreadMemory.LatePages). If it
	// returns true, the stack is not counted: the thread is sampled again.
	LatePages func(tid int, pages []uint64) (again bool)

	objects *Objects
	walker  unwind.Walker
	threads map[int]*sampledThread // by ID
	index   Index                  // of Stacks
	frames  int                    // of Stacks
	unknown bool
	round   int
}

// maxSampledFrames bounds the memory of Stacks, to some 100 MB.
const maxSampledFrames = 1 << 19

// staleRounds is after how many samples generated code is read again, if a stack contains
// unknown code.
const staleRounds = 16

type sampledThread struct {
	trail  unwind.Trail
	frames []Frame // outermost first, so that unchanged frames are a prefix
	last   int32   // index into Stacks of the previous stack, -1 for none
}

// NewSampler returns a sampler of the objects' snapshot.
func (o *Objects) NewSampler() *Sampler {
	return &Sampler{
		objects: o,
		walker:  unwind.Walker{Machine: o.snapshot.Machine, Modules: &o.Modules},
		threads: make(map[int]*sampledThread),
		index:   NewIndex(),
	}
}

// Sample walks the stacks of the threads in the current content of the snapshot. Moved says
// that the mappings changed since the last call.
func (s *Sampler) Sample(moved bool) {
	s.round++
	if moved || s.unknown && s.round%staleRounds == 0 {
		s.objects.Update()
		s.unknown = false
		for _, t := range s.threads {
			t.frames = t.frames[:0]
		}
	}
	snapshot := s.objects.snapshot
	for i := range snapshot.Threads {
		t := &snapshot.Threads[i]
		known := s.threads[t.ID]
		if known == nil {
			known = &sampledThread{last: -1}
			s.threads[t.ID] = known
		}
		reason, err := unwind.NoRule, t.Err
		memory := s.objects.snapshot.ThreadMemory(t)
		known.walk(s, memory, &reason, &err)
		if pages := memory.LatePages(); s.LatePages != nil && len(pages) > 0 && s.LatePages(t.ID, pages) {
			continue
		}
		s.count(t, known, reason, err)
	}
}

// walk sets k.frames to the frames of a thread's stack.
func (k *sampledThread) walk(s *Sampler, memory *snapshot.ThreadMemory, reason *unwind.Reason, err *error) {
	t := memory.Thread()
	if t.Registers.PC == 0 && t.Err != nil {
		k.trail.Forget()
		k.frames = k.frames[:0]
		return
	}
	s.walker.Memory = memory
	s.walker.Stack = unwind.Stack{Address: t.StackAddress, Bytes: t.Stack}
	fault := object.Guard(func() error {
		s.walker.Follow(&k.trail, &t.Registers)
		return nil
	})
	*reason, *err = s.walker.Reason(), s.walker.Err()
	if fault != nil {
		*reason, *err = unwind.UnreadableMemory, fault
		k.trail.Forget()
		k.frames = k.frames[:0]
		return
	}
	k.frames = k.frames[:min(k.trail.Kept(), len(k.frames))]
	for i := k.trail.Len() - 1 - len(k.frames); i >= 0; i-- {
		k.frames = append(k.frames, s.frame(k.trail.At(i)))
	}
}

func (s *Sampler) frame(step unwind.Step) Frame {
	f := Frame{PC: step.PC, LookupPC: step.LookupPC, SP: step.SP, Method: step.Method,
		Gap: step.Gap, Interrupted: step.Interrupted, Trampoline: step.Trampoline}
	module, ok := s.objects.Modules.Find(step.LookupPC)
	f.Code = s.objects.codeAt(module, step.LookupPC)
	s.unknown = s.unknown || ok && f.Object == nil
	return f
}

// count counts the stack of a thread. It does not compare stack pointers.
func (s *Sampler) count(t *snapshot.Thread, k *sampledThread, reason unwind.Reason, err error) {
	equal := func(i int32) bool { return s.equal(i, t, k, reason) }
	if k.last < 0 || !equal(k.last) {
		hash := s.index.Hash(k.frames, uint64(t.ID))
		i := s.index.Find(hash, equal)
		if i < 0 {
			if s.frames+len(k.frames)+1 > maxSampledFrames {
				s.Lost++
				return
			}
			s.frames += len(k.frames) + 1
			i = int32(len(s.Stacks))
			s.index.Add(hash, len(s.Stacks))
			frames := slices.Clone(k.frames)
			slices.Reverse(frames)
			s.Stacks = append(s.Stacks, Stack{Thread: &snapshot.Thread{ID: t.ID, Name: t.Name, Err: t.Err}, Frames: frames, Reason: reason, Err: err})
			s.Counts = append(s.Counts, 0)
		}
		k.last = i
	}
	s.Counts[k.last]++
	if known := s.Stacks[k.last].Thread; known.Err == nil {
		known.Err = t.Err // the first error of copying the stack
	}
}

// equal reports whether a thread has the i-th of the stacks.
func (s *Sampler) equal(i int32, t *snapshot.Thread, k *sampledThread, reason unwind.Reason) bool {
	known := &s.Stacks[i]
	n := len(k.frames)
	if known.Thread.ID != t.ID || known.Reason != reason || len(known.Frames) != n {
		return false
	}
	for j := range known.Frames {
		if !known.Frames[j].Equal(&k.frames[n-1-j]) {
			return false
		}
	}
	return true
}
