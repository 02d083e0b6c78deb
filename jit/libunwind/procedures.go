// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package libunwind

import (
	"fmt"
	"sync"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/libunwind/internal/calls"
	"github.com/clewdev/clew/region"
)

// PublishProcedures publishes procedures to libunwind in its proc-info format, [Dynamic],
// with their names and regions. It keeps no reference to them. The indexes for
// Registration.WithdrawFunctions are indexes of procedures.
//
// On amd64 and arm64 libunwind does not read this format, and stops the walk at code that
// it finds in this format first. Other readers of the list, such as [Read], do read it. A
// program that needs both calls PublishProcedures before it publishes the same code with
// a [Publisher]: libunwind finds the later entry first.
func PublishProcedures(procedures ...*region.Procedure) (jit.Registration, error) {
	if !calls.Loaded() {
		return nil, jit.ErrNotApplicable
	}
	m := jit.Host()
	for _, p := range procedures {
		if p.End <= p.Start {
			return nil, fmt.Errorf("%w: procedure %q has the invalid range [%#x, %#x)", ErrInfo, p.Name, p.Start, p.End)
		}
	}
	infos := make([]Info, len(procedures))
	points := make([]info, len(procedures))
	layOut := func(at uint64) ([]byte, error) {
		e := Encoder{Machine: m, Address: at}
		for i, p := range procedures {
			var err error
			infos[i] = Info{Start: p.Start, End: p.End, Format: Dynamic, Procedure: p}
			if points[i], err = e.describe(&infos[i]); err != nil {
				return nil, fmt.Errorf("procedure %q: %w", p.Name, err)
			}
		}
		return e.Data, nil
	}
	// The first pass computes the size.
	data, err := layOut(0)
	if err != nil {
		return nil, err
	}
	out := &described{infos: make([][]byte, len(procedures))}
	if len(data) > 0 {
		if out.block, err = newBlock(len(data), 0); err != nil {
			return nil, err
		}
		if data, err = layOut(out.block.address()); err != nil {
			out.block.release()
			return nil, err
		}
		copy(out.block.memory, data)
	}
	for i := range infos {
		out.code = append(out.code, [2]uint64{infos[i].Start, infos[i].End})
		if out.infos[i], err = newInfo(); err != nil {
			_ = out.Withdraw()
			return nil, err
		}
		put(m, out.infos[i], &infos[i], points[i])
		calls.Register(address(out.infos[i]))
	}
	out.left = len(infos)
	return out, nil
}

// described is the Registration of procedures.
type described struct {
	mu    sync.Mutex
	infos [][]byte    // nil if withdrawn
	code  [][2]uint64 // start and end
	left  int
	block *block
}

// Withdraw implements jit.Registration.
func (d *described) Withdraw() error { return d.forget(nil) }

// WithdrawFunctions implements jit.Registration.
func (d *described) WithdrawFunctions(functions ...int) error {
	if len(functions) == 0 {
		return nil
	}
	return d.forget(functions)
}

// forget withdraws the given functions; without any, all of them.
func (d *described) forget(functions []int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(functions) == 0 {
		for i := range d.infos {
			functions = append(functions, i)
		}
	}
	for _, i := range functions {
		if i < 0 || i >= len(d.infos) {
			return fmt.Errorf("%w: no procedure %d: %d were published", jit.ErrCode, i, len(d.infos))
		}
	}
	for _, i := range functions {
		if d.infos[i] == nil {
			continue
		}
		calls.Cancel(address(d.infos[i]), d.code[i][0], d.code[i][1])
		releaseInfo(d.infos[i])
		d.infos[i] = nil
		d.left--
	}
	if d.left <= 0 && d.block != nil {
		d.block.release()
		d.block = nil
	}
	return nil
}
