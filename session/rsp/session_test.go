// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package rsp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/examples/forth"
	"github.com/clewdev/clew/session"
)

// serveWords serves a session for the code of a few words.
func serveWords(t *testing.T) (*forth.Session, *session.Session, *Server) {
	t.Helper()
	compiled, err := forth.Compile("words.fth", []byte(": square dup * ; : cube dup square * ;"), &forth.Options{Entry: true})
	if err != nil {
		t.Fatal(err)
	}
	words, err := forth.Load(compiled, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { words.Close() })
	image, err := session.NewImage(words.Code())
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(&session.Options{Images: []*session.Image{image}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	v, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return words, s, v
}

// Packets to a real session, on any machine: the idle stub, a breakpoint, a step, the end of a
// call, and a call after the client has detached.
func TestSession(t *testing.T) {
	words, s, v := serveWords(t)
	w := connect(t, v)
	w.expect("?", "T05")
	r := v.registers
	pc := func() uint64 {
		t.Helper()
		b, err := hex.DecodeString(w.ask(fmt.Sprintf("p%x", r.pc)))
		if err != nil || len(b) != 8 {
			t.Fatalf("the program counter is %x, %v", b, err)
		}
		return binary.LittleEndian.Uint64(b)
	}
	if at := pc(); at != v.idle.memory.Address() {
		t.Errorf("an idle session is at %#x, and the stub at %#x", at, v.idle.memory.Address())
	}
	all := w.ask("g")
	if len(all) != 2*r.size || strings.Contains(all, "x") {
		t.Errorf("%d digits for %d bytes of registers: %s", len(all), r.size, all)
	}
	w.expect("G"+all, "OK")
	if again := w.ask("g"); again != all {
		t.Errorf("the registers were\n%s\nand became\n%s", all, again)
	}
	for _, x := range s.RegisterInfos() {
		if !strings.Contains(r.description(), fmt.Sprintf("name=%q bitsize=\"%d\"", x.Name, 8*x.Size)) {
			t.Errorf("the description lacks %s of %d bytes", x.Name, x.Size)
		}
	}

	square, ok := s.Symbol("square")
	if !ok {
		t.Fatal("no square")
	}
	w.expect(fmt.Sprintf("Z0,%x,%x", square, r.machine.CodeAlign), "OK")
	w.send("vCont;c")
	call := make(chan result, 1)
	enter := func() {
		function, arguments, err := words.Enter("cube", 3)
		if err != nil {
			t.Error(err)
		}
		stop, err := v.Call(function, session.Arguments{Words: arguments[:]})
		call <- result{stop, err}
	}
	go enter()
	if reply := w.receive(); !strings.HasPrefix(reply, "T05") || pc() != square {
		t.Errorf("%s at %#x, and square is at %#x", reply, pc(), square)
	}
	w.expect("s", "T05")
	if at := pc(); at <= square || at > square+16 {
		t.Errorf("a step led to %#x", at)
	}
	w.expect(fmt.Sprintf("vCont;r%x,%x", square, square+4), "T05")
	w.expect(fmt.Sprintf("Z0,%x,%x", v.returnAddress(), r.machine.CodeAlign), "OK")
	w.expect("c", "T05")
	if at := pc(); at != v.returnAddress() {
		t.Errorf("the call ended at %#x, and calls return to %#x", at, v.returnAddress())
	}
	select {
	case <-call:
		t.Error("the call has returned while its client looks at its end")
	default:
	}
	w.send("c")
	wait(t, call).check(t, session.Returned)
	if left, err := words.Leave(); err != nil || len(left) != 1 || left[0] != 27 {
		t.Errorf("cube left %d, %v", left, err)
	}
	w.conn.Write([]byte{3})
	if reply := w.receive(); !strings.HasPrefix(reply, "T02") {
		t.Error(reply)
	}
	w.expect("D", "OK")
	if len(s.Breakpoints()) != 0 {
		t.Errorf("%d breakpoints are left", len(s.Breakpoints()))
	}
	go enter()
	wait(t, call).check(t, session.Returned)
	if left, err := words.Leave(); err != nil || len(left) != 1 || left[0] != 27 {
		t.Errorf("cube left %d, %v", left, err)
	}
}
