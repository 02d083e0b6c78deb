// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package session

import (
	"errors"
	"strings"
	"testing"
)

// Instructions that Linux emulates are single steps too.
func TestStepOverEmulated(t *testing.T) {
	i := load(t, `
	.globl tables, tables.end
tables:
	sgdt -16(%rsp)
	nop
	sidt -16(%rsp)
	nop
	smsw %eax
	nop
	sldt %eax
	nop
	str -16(%rsp)
	nop
	ret
tables.end:
`)
	s := newSession(t, i)
	addresses := addressesOf(t, s, i)
	for range 2 {
		stop, err := s.CallWith(addresses[0], Arguments{StopAtEntry: true})
		for n, address := range addresses {
			if err != nil {
				t.Fatal(err)
			}
			if stop.PC != address {
				t.Fatalf("step %d ends at %#x, not at %#x", n, stop.PC, address)
			}
			if stop, err = s.StepInstruction(); err == nil && stop.Reason == Signalled {
				return // a kernel that does not
			}
		}
		check(t, stop, err, Returned)
		for _, address := range addresses {
			if _, err := s.Break(address, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Instructions that cannot be displaced are refused. The error names an alternative, and that
// works.
func TestRefusedInstructions(t *testing.T) {
	i := load(t, `
	.globl refused, refused.at
refused:
	mov %rsp, %rax
	lea 1f(%rip), %rdx
	mov %rdx, -8(%rsp)
refused.at:
	call *-8(%rsp)
	ret
1:	mov %rsp, %rdx
	sub %rdx, %rax
	ret
`)
	s := newSession(t, i)
	at := symbol(t, s, "refused.at")
	_, err := s.Break(at, nil)
	if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "hardware") {
		t.Fatal(err)
	}
	b, err := s.Break(at, &BreakpointOptions{Hardware: true})
	if err != nil {
		t.Fatal(err)
	}
	stop := call(t, s, "refused")
	if check(t, stop, nil, AtBreakpoint).PC != at || stop.Breakpoint != b {
		t.Error(stop)
	}
	stop, err = s.StepInstruction()
	check(t, stop, err, SteppedInstruction)
	stop, err = s.Continue()
	if check(t, stop, err, Returned).Result != 8 {
		t.Error(stop)
	}
	end := i.Ranges()[0].End
	for _, address := range []uint64{end, end + 4096, 0, start(i) - 1} {
		if _, err := s.Break(address, nil); !errors.Is(err, ErrAddress) {
			t.Errorf("%#x: %v", address, err)
		}
	}
}
