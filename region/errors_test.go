// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package region_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clewdev/clew/arch"
	"github.com/clewdev/clew/cfi"
	"github.com/clewdev/clew/region"
)

func TestProgramErrors(t *testing.T) {
	loop := ops(1)
	loop.Next = ops(1)
	loop.Next.Next = &region.Region{Next: loop.Next}
	b := &region.Procedure{Name: "b", Start: 0x2000, End: 0x2010}
	a := &region.Procedure{Name: "a", Start: 0x1000, End: 0x1010, Regions: ops(8, region.Alias(-1, 0x2000))}
	b.Regions = ops(8, region.Alias(-1, 0x1000))
	wide := make([]*region.Region, 300)
	for i := range wide {
		wide[i] = ops(1, region.Add(0, rsp, -8))
	}
	many := make([]region.Op, 1<<14+1)
	for i := range many {
		many[i] = region.Add(0, rsp, 0)
	}
	f := func(regions ...*region.Region) *region.Procedure { return procedure(16, regions...) }
	for _, test := range []struct {
		name    string
		p       *region.Procedure
		machine *arch.Machine
		kind    error
		text    string
	}{
		{"machine", f(), arch.Lookup(3, 1, 1), region.ErrMachine, "i386"},
		{"no machine", f(), nil, region.ErrMachine, "none"},
		{"no code", procedure(0), amd64, region.ErrProcedure, "[0x0, 0x0)"},
		{"half an instruction", procedure(6), arm64, region.ErrProcedure, "multiple of 4"},
		{"flags", &region.Procedure{End: 8, Flags: 4}, amd64, region.ErrProcedure, "flags 0x4"},
		{"too long", f(ops(8), ops(9)), amd64, region.ErrRegion, "f at 0x0: region 1: invalid region: 9 units of code, but the procedure has 16, of which 8"},
		{"too long from the end", f(ops(8), ops(-9)), amd64, region.ErrRegion, "-9 units"},
		{"too long on arm64", f(ops(5)), arm64, region.ErrRegion, "the procedure has 4, of which 4"},
		{"the least count", f(ops(-1 << 31)), amd64, region.ErrRegion, "-2147483648"},
		{"negative and not last", f(ops(-8), ops(0)), amd64, region.ErrRegion, "is not the last"},
		{"loop", &region.Procedure{End: 16, Regions: loop}, amd64, region.ErrRegion, "circular"},
		{"loop of empty ones", &region.Procedure{End: 16, Regions: func() *region.Region {
			r := new(region.Region)
			r.Next = r
			return r
		}()}, amd64, region.ErrRegion, "circular"},
		{"when after the region", f(ops(8, region.Add(8, rsp, -8))), amd64, region.ErrOperation, "op 0, add r7 -8 at 8: invalid operation: takes effect at unit 8 of a region of 8"},
		{"when before the region", f(ops(8, region.Add(-2, rsp, -8))), amd64, region.ErrOperation, "unit -2"},
		{"label", f(ops(8, region.CopyState(3)), ops(8, region.LabelState(3))), amd64, region.ErrLabel, "label 3"},
		{"pop_frames", f(ops(8, push(0, rbp)...), ops(8, region.PopFrames(0, 2))), amd64, region.ErrOperation, "more than the 1 stack frames"},
		{"pop_frames twice", f(ops(8, join(push(0, rbp), one(region.PopFrames(1, 1)), one(region.PopFrames(2, 1)))...)), amd64, region.ErrOperation, "more than the 0 stack"},
		{"tag", f(ops(8, region.Op{Tag: 9})), amd64, region.ErrOperation, "unknown tag"},
		{"negative register", f(ops(8, region.Op{Tag: region.TagAdd, Register: -1, Value: 8})), amd64, region.ErrOperation, "register -1 does not exist"},
		{"high register", f(ops(8, region.SpillSPRel(0, 128, 0))), amd64, region.ErrOperation, "register 128 does not exist"},
		{"a register beyond what fits", f(ops(8, region.SpillSPRel(0, 1<<16|rbx, 0))), amd64, region.ErrOperation, "register -1 does not exist"},
		{"in a high register", f(ops(8, region.SaveReg(0, rbx, 1<<40))), amd64, region.ErrOperation, "register 1099511627776 does not exist"},
		{"no frame pointer", f(ops(8, region.SpillFPRel(0, rbx, -8))), amd64, region.ErrOperation, "no frame pointer"},
		{"the frame pointer is gone", f(ops(8, join(push(0, rbp), one(region.SaveReg(1, rsp, rbp)), one(region.PopFrames(2, 1)), one(region.SpillFPRel(3, rbx, -8)))...)), amd64, region.ErrOperation, "no frame pointer"},
		{"spill of sp", f(ops(8, region.SpillSPRel(0, rsp, -8))), amd64, region.ErrOperation, "stack pointer"},
		{"sp from elsewhere", f(ops(8, region.SaveReg(0, rax, rsp))), amd64, region.ErrOperation, "is set to rax"},
		{"in rip", f(ops(8, region.SaveReg(0, rax, rip))), amd64, region.ErrOperation, "rip cannot be saved in"},
		{"to rip", f(ops(8, region.Add(0, rip, 1))), amd64, region.ErrOperation, "rip cannot be added to"},
		{"in itself", f(ops(8, region.SaveReg(0, rbx, rbx))), amd64, region.ErrOperation, "in itself"},
		{"spilled too late", f(ops(8, region.SaveReg(0, rsp, rbp), region.SpillSPRel(1, rbp, -8))), amd64, region.ErrOperation, "rbp is the frame pointer"},
		{"lost", f(ops(8, region.SaveReg(0, rax, rbx), region.SpillSPRel(1, rbx, -8))), amd64, region.ErrOperation, "rbx is overwritten"},
		{"changed", f(ops(8, region.Add(0, rbx, 3), region.SpillSPRel(1, rbx, -8))), amd64, region.ErrOperation, "rbx contains the caller's value plus 3"},
		{"still needed", f(ops(8, region.SaveReg(0, rbx, rax), region.SaveReg(1, r12, rax))), amd64, region.ErrOperation, "rax still holds the caller's rbx"},
		{"spill before the push", f(ops(8, region.SpillSPRel(0, rbp, 0), region.Add(0, rsp, -8))), amd64, region.ErrOperation, "CFA-8 still contains the caller's rip"},
		{"a slot twice", f(ops(8, join(push(0, rbp), one(region.SpillSPRel(1, rbx, 4)))...)), amd64, region.ErrOperation, "CFA-16 still contains the caller's rbp"},
		{"huge", f(ops(8, region.Add(0, rsp, -1<<41))), amd64, region.ErrOperation, "-2199023255552 bytes"},
		{"huge in all", f(ops(8, region.Add(0, rsp, -1<<40), region.Add(1, rsp, -1<<40))), amd64, region.ErrOperation, "CFA-"},
		{"factor", f(ops(8, region.SpillSPRel(0, rbx, -12))), amd64, cfi.ErrRange, "data alignment factor"},
		{"alias to nothing", f(ops(8, region.Alias(-1, 0x5000))), amd64, region.ErrAlias, "no known procedure contains 0x5000"},
		{"alias past the end", f(ops(16, region.Alias(-1, 0x2008))), amd64, region.ErrAlias, "the procedure ends 0x8 after 0x2008"},
		{"alias into an instruction", f(ops(1, region.Alias(-1, 0x2002))), arm64, region.ErrAlias, "0x2002 is not the start of an instruction"},
		{"alias to itself", f(ops(8, region.Alias(-1, 0))), amd64, region.ErrAlias, "circular"},
		{"aliases in a ring", a, amd64, region.ErrAlias, "circular"},
		{"after an alias", f(ops(8, region.Add(4, rsp, -8), region.Alias(-1, 0x2000))), amd64, region.ErrAlias, "op 0 takes effect after it"},
		{"frames", procedure(300, wide...), amd64, region.ErrLimit, "256"},
		{"operations", procedure(300, ops(8, many...)), amd64, region.ErrLimit, "16384"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := test.p.Program(test.machine, b, a)
			if p != nil || !errors.Is(err, test.kind) {
				t.Fatalf("got %v, %v; want an error that is %q", p, err, test.kind)
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %q, want it to have %q", err, test.text)
			}
			var e *region.Error
			if !errors.As(err, &e) || e.Procedure != test.p {
				t.Errorf("%v is not an *Error of the procedure", err)
			}
		})
	}
}
