// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clewdev/clew/session"
)

// mapped returns the permissions of memory of this process, or "" if it is not mapped.
func mapped(t *testing.T, address uint64) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	m, ok := findMapping(maps, address)
	if !ok {
		return ""
	}
	return m.permissions
}

func (w *wire) allocate(packet string) uint64 {
	w.t.Helper()
	r := w.ask(packet)
	address, err := strconv.ParseUint(r, 16, 64)
	if err != nil || address == 0 {
		w.t.Fatalf("%q was answered by %q", packet, r)
	}
	return address
}

// A client gets memory with the permissions that it requests, but never writable and
// executable. The client frees it, or the server does when the client detaches.
func TestScratch(t *testing.T) {
	f := newFake(atBreak)
	v := serve(t, f, nil)
	w := connect(t, v)
	data := w.allocate("_M1000,rw")
	code := w.allocate("_M2001,rx")
	both := w.allocate("_M10,rwx")
	for address, want := range map[uint64]string{data: "rw-p", code: "r-xp", code + 0x2fff: "r-xp", code + 0x3000: "---p", both: "r-xp"} {
		if got := mapped(t, address); got != want {
			t.Errorf("memory at %#x is %s, and not %s", address, got, want)
		}
	}
	w.expect(fmt.Sprintf("qMemoryRegionInfo:%x", code), fmt.Sprintf("start:%x;size:3000;permissions:rx;", code))
	if n := len(f.Images()); n != 3 { // and the idle stub
		t.Errorf("%d images", n)
	}
	if v.scratch.size != 0x1000+0x3000+0x1000 {
		t.Errorf("%#x bytes", v.scratch.size)
	}
	if r := w.ask("qRcmd," + hexString("session")); strings.Contains(r, hexString(scratchName)) {
		t.Errorf("the client receives its own memory: %s", r)
	}
	w.expect(fmt.Sprintf("_m%x", data), "OK")
	if got := mapped(t, data); got == "rw-p" {
		t.Error("data that was given back is there")
	}
	w.expect(fmt.Sprintf("_m%x", data), "E16")
	w.expect(fmt.Sprintf("_m%x", code), "OK")
	w.expect(fmt.Sprintf("_m%x", code), "E16")
	if got := mapped(t, code); got != "r-xp" {
		t.Errorf("code that the session may be stopped in is %q", got)
	}
	for _, packet := range []string{"_M0,rw", "_M5000000,rw", "_Mffffffffffffffff,rw"} {
		w.expect(packet, "E05")
	}
	for _, packet := range []string{"_M", "_M1000", "_M1000,q", "_Mx,rw", "_m", "_m12345", "_mx"} {
		w.expect(packet, "E16")
	}
	w.expect("_", "")
	w.expect("_x", "")
	w.send("c")
	call := start(v)
	w.receive()
	w.conn.Close()
	// Memory in which the call may be remains until the call ends.
	f.runs()
	if got := mapped(t, both); got != "r-xp" {
		t.Errorf("code that the session may run is %q", got)
	}
	f.comesTo(returned)
	for f.Interrupt() != nil {
		time.Sleep(time.Millisecond)
	}
	wait(t, call).check(t, session.Interrupted)
	if stop, err := v.Continue(); err != nil || stop.Reason != session.Returned {
		t.Errorf("%v, %v", stop, err)
	}
	connectNext(t, v) // after the driver has handled the end of the call
	if len(v.scratch.regions) != 0 || v.scratch.size != 0 || len(f.Images()) != 1 {
		t.Errorf("%d parts and %d images are left", len(v.scratch.regions), len(f.Images()))
	}
}

// The memory of a client is limited, in bytes and parts. Close frees all.
func TestScratchBounds(t *testing.T) {
	f := newFake()
	v := serve(t, f, nil)
	w := connect(t, v)
	for n := range maxRegions + 1 {
		want := ""
		if n == maxRegions {
			want = "E05"
		}
		if r := w.ask("_M1,rw"); want != "" && r != want || want == "" && strings.HasPrefix(r, "E") {
			t.Fatalf("part %d: %s", n, r)
		}
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if len(v.scratch.regions) != 0 || len(f.Images()) != 0 {
		t.Errorf("%d parts and %d images are left", len(v.scratch.regions), len(f.Images()))
	}
}

// lldb restores all registers after it has called a function.
func TestSavedRegisters(t *testing.T) {
	f := newFake()
	w := connect(t, serve(t, f, nil))
	w.expect("QThreadSuffixSupported", "OK")
	before := w.ask("g;thread:1234;")
	w.expect("QSaveRegisterState;thread:1234;", "1")
	w.expect("P0=1122334455667788;thread:1234;", "OK")
	w.expect("QSaveRegisterState;thread:1234;", "2")
	w.expect("P0=2222222222222222;thread:1234;", "OK")
	w.expect("QRestoreRegisterState:2;thread:1234;", "OK")
	w.expect("p0;thread:1234;", "1122334455667788")
	w.expect("QRestoreRegisterState:2;thread:1234;", "E16")
	w.expect("QRestoreRegisterState:1;thread:1234;", "OK")
	if after := w.ask("g;thread:1234;"); after != before {
		t.Errorf("the registers were\n%s\nand are\n%s", before, after)
	}
	for _, packet := range []string{"QRestoreRegisterState:", "QRestoreRegisterState:x", "QRestoreRegisterState:99999999999"} {
		w.expect(packet, "E16")
	}
	for n := range maxSaved + 1 { // the first one is forgotten
		w.expect("QSaveRegisterState", fmt.Sprint(3+n))
	}
	w.expect("QRestoreRegisterState:3", "E16")
	w.expect("QRestoreRegisterState:4", "OK")
}

// While a function that lldb has called may return, there is a hardware breakpoint at its
// return address: the code there would start this program again in the worker.
func TestGuard(t *testing.T) {
	entry := programEntry()
	if entry == 0 {
		t.Skip("skipped: there is no auxiliary vector")
	}
	atEntry := session.Stop{Reason: session.AtBreakpoint, PC: entry}
	for _, how := range []string{"restored", "continued", "detached", "disconnected", "disconnected while running"} {
		t.Run(how, func(t *testing.T) {
			f := newFake(atBreak, atEntry, returned)
			if how == "disconnected while running" {
				f = newFake(atBreak)
			}
			v := serve(t, f, nil)
			w := connect(t, v)
			w.expect("QThreadSuffixSupported", "OK")
			w.expect(fmt.Sprintf("Z0,%x,1", entry), "OK")
			w.send("c")
			call := start(v)
			w.receive()
			if strings.Contains(f.traced(), "hbreak") {
				t.Error("there is a breakpoint already:", f.traced())
			}
			w.expect("QSaveRegisterState;thread:1234;", "1")
			if how == "disconnected while running" {
				w.send("c")
				f.runs()
				f.comesTo(atEntry)
			} else {
				w.expect("c", "T05")
			}
			if want := fmt.Sprintf("hbreak1:%x", entry); !strings.Contains(f.traced(), want) {
				t.Errorf("no %s in %s", want, f.traced())
			}
			want := session.Aborted
			switch how {
			case "restored":
				w.expect("QRestoreRegisterState:1;thread:1234;", "OK")
				w.send("c")
				want = session.Returned
			case "continued":
				w.expect("c", "X09")
			case "detached":
				w.expect("D", "OK")
			default:
				w.conn.Close()
			}
			wait(t, call).check(t, want)
			w.conn.Close()
			connectNext(t, v)
			if v.guard.id != 0 || !strings.Contains(f.traced(), "remove1") {
				t.Errorf("the breakpoint stays: %s", f.traced())
			}
		})
	}
}

// noDebugRegisters is a session without a free debug register.
type noDebugRegisters struct{ *fake }

func (noDebugRegisters) Break(uint64, *session.BreakpointOptions) (*session.Breakpoint, error) {
	return nil, session.ErrInUse
}

func TestNoGuard(t *testing.T) {
	entry := programEntry()
	if entry == 0 {
		t.Skip("skipped: there is no auxiliary vector")
	}
	v, err := newServer(noDebugRegisters{newFake(returned)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	w := connect(t, v)
	w.expect("QThreadSuffixSupported", "OK")
	w.expect(fmt.Sprintf("Z0,%x,1", entry), "OK")
	w.expect("QSaveRegisterState", "1")
	w.expect("c", "E.no breakpoint at the function's return address")
	w.expect("QRestoreRegisterState:1", "OK")
	w.send("c")
	wait(t, start(v)).check(t, session.Returned)
	w.conn.Close()
}
