// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package rsp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clewdev/clew/session"
)

// fake is a session without a worker. Its function runs from one scripted stop to the next.
type fake struct {
	mu        sync.Mutex
	state     session.State
	script    []session.Stop // that Continue comes to; then it runs until it is interrupted
	interrupt chan struct{}
	trace     []string // what was called
	memory    []byte   // at fakeMemory
	registers map[string][]byte
	images    []*session.Image
	points    map[int]*session.Breakpoint
	id        int
}

const (
	fakeMemory   = 0x10000
	fakeFunction = fakeMemory + 0x100
	fakePID      = 0x1234
)

func newFake(script ...session.Stop) *fake {
	f := &fake{script: script, interrupt: make(chan struct{}, 1), memory: make([]byte, 0x1000),
		registers: make(map[string][]byte), points: make(map[int]*session.Breakpoint)}
	for i, x := range f.RegisterInfos() {
		f.registers[x.Name] = bytes.Repeat([]byte{byte(i + 1)}, x.Size)
	}
	for i := range f.memory {
		f.memory[i] = byte(i)
	}
	return f
}

// runs waits until the program runs.
func (f *fake) runs() {
	for f.State() != session.Running {
		time.Sleep(time.Millisecond)
	}
}

// comesTo sets the next stops.
func (f *fake) comesTo(stops ...session.Stop) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = stops
}

func (f *fake) note(format string, arguments ...any) {
	f.trace = append(f.trace, fmt.Sprintf(format, arguments...))
}

// traced returns the recorded calls, except those that every client causes.
func (f *fake) traced() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.trace, " ")
}

func (f *fake) State() session.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}
func (f *fake) PID() int { return fakePID }
func (f *fake) Images() []*session.Image {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*session.Image(nil), f.images...)
}
func (f *fake) AddImage(i *session.Image) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.images = append(f.images, i)
	return nil
}
func (f *fake) RemoveImage(i *session.Image) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == session.Stopped {
		return session.ErrStopped
	}
	n := slices.Index(f.images, i)
	if n < 0 {
		return session.ErrNotFound
	}
	f.images = slices.Delete(f.images, n, n+1)
	return nil
}
func (f *fake) Image(address uint64) *session.Image {
	if address-fakeMemory < uint64(len(f.memory)) {
		return new(session.Image)
	}
	return nil
}

func (f *fake) ReturnImage() *session.Image { return nil }

// stopped records a stop.
func (f *fake) stopped(st session.Stop) (*session.Stop, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = session.Stopped
	if st.Reason.Kind() == session.KindExit {
		f.state = session.Exited
	}
	f.registers["rip"] = binary.LittleEndian.AppendUint64(nil, st.PC)
	return &st, nil
}

func (f *fake) CallWith(function uint64, a session.Arguments) (*session.Stop, error) {
	f.mu.Lock()
	if f.state == session.Stopped || f.state == session.Running {
		f.mu.Unlock()
		return nil, session.ErrStopped
	}
	f.begin()
	idle := function != fakeFunction
	if !idle {
		f.note("call")
	}
	f.mu.Unlock()
	if a.StopAtEntry {
		return f.stopped(session.Stop{Reason: session.AtEntry, PC: function})
	}
	return f.run()
}

func (f *fake) CallMain(function uint64, arguments []string, a session.Arguments) (*session.Stop, error) {
	return f.CallWith(function, a)
}

// begin begins a run and drops an interrupt of the previous one.
func (f *fake) begin() {
	if f.state == session.Running {
		return
	}
	f.state = session.Running
	select {
	case <-f.interrupt:
	default:
	}
}

// run returns the next stop of the script.
func (f *fake) run() (*session.Stop, error) {
	f.mu.Lock()
	f.begin()
	var next *session.Stop
	if len(f.script) > 0 {
		next, f.script = &f.script[0], f.script[1:]
	}
	f.mu.Unlock()
	if next != nil {
		return f.stopped(*next)
	}
	<-f.interrupt
	return f.stopped(session.Stop{Reason: session.Interrupted, PC: fakeFunction + 8})
}

func (f *fake) resume(format string, arguments ...any) (*session.Stop, error) {
	f.mu.Lock()
	f.note(format, arguments...)
	f.mu.Unlock()
	return f.run()
}

func (f *fake) Continue() (*session.Stop, error)        { return f.resume("continue") }
func (f *fake) StepInstruction() (*session.Stop, error) { return f.resume("step") }
func (f *fake) StepRange(start, end uint64) (*session.Stop, error) {
	return f.resume("range:%x-%x", start, end)
}

func (f *fake) Abort() (*session.Stop, error) {
	f.mu.Lock()
	if f.state != session.Stopped {
		f.mu.Unlock()
		return nil, session.ErrNotStopped
	}
	f.mu.Unlock()
	return f.stopped(session.Stop{Reason: session.Aborted, ExitCode: -1})
}

func (f *fake) Interrupt() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != session.Running {
		return session.ErrNotRunning
	}
	select {
	case f.interrupt <- struct{}{}:
	default:
	}
	return nil
}

func (f *fake) span(n int, address uint64) ([]byte, error) {
	at := address - fakeMemory
	if at >= uint64(len(f.memory)) {
		return nil, &session.MemoryError{Address: address, Err: errors.New("not mapped")}
	}
	b := f.memory[at:]
	if len(b) < n {
		return b, &session.MemoryError{Address: fakeMemory + uint64(len(f.memory)), Err: errors.New("not mapped")}
	}
	return b[:n], nil
}

// ReadMemory also reads memory of this process, for the list of symbol files.
func (f *fake) ReadMemory(p []byte, address uint64) error {
	b, err := f.span(len(p), address)
	copy(p, b)
	if len(b) == 0 && address >= 1<<20 { // below, packets expect nothing
		if memory, e := os.Open("/proc/self/mem"); e == nil {
			defer memory.Close()
			if _, e := memory.ReadAt(p, int64(address)); e == nil {
				return nil
			}
		}
	}
	return err
}

func (f *fake) WriteMemory(p []byte, address uint64) error {
	b, err := f.span(len(p), address)
	copy(b, p)
	return err
}

func (f *fake) Registers() (session.Registers, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var r session.Registers
	r.Set("pc", binary.LittleEndian.Uint64(f.registers["rip"]))
	return r, nil
}

// RegisterInfos returns the registers of amd64 with AVX.
func (f *fake) RegisterInfos() []session.RegisterInfo {
	var list []session.RegisterInfo
	columns := map[string]int{"rax": 0, "rdx": 1, "rcx": 2, "rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7, "rip": 16}
	for _, name := range strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags cs ss ds es fs gs fs_base gs_base orig_rax") {
		size := 8
		if strings.HasSuffix(name, "s") || name == "eflags" {
			size = 4
		}
		column, ok := columns[name]
		if !ok {
			column = -1
		}
		list = append(list, session.RegisterInfo{Name: name, Size: size, Column: column})
	}
	for n := range 8 {
		list = append(list, session.RegisterInfo{Name: "st" + strconv.Itoa(n), Size: 10, Column: 33 + n, Class: session.FloatRegister})
	}
	for _, name := range strings.Fields("fctrl fstat ftag fiseg fioff foseg fooff fop") {
		list = append(list, session.RegisterInfo{Name: name, Size: 4, Column: -1, Class: session.FloatRegister})
	}
	for n := range 16 {
		list = append(list, session.RegisterInfo{Name: "xmm" + strconv.Itoa(n), Size: 16, Column: 17 + n, Class: session.VectorRegister})
	}
	for n := range 16 {
		list = append(list, session.RegisterInfo{Name: "ymm" + strconv.Itoa(n) + "h", Size: 16, Column: -1, Class: session.VectorRegister})
	}
	return append(list, session.RegisterInfo{Name: "mxcsr", Size: 4, Column: -1, Class: session.VectorRegister})
}

func (f *fake) Register(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.registers[name]
	if !ok {
		return nil, session.ErrNotFound
	}
	return bytes.Clone(b), nil
}

func (f *fake) SetRegister(name string, value []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.registers[name]) != len(value) {
		return session.ErrNotFound
	}
	f.note("set:%s=%x", name, value)
	f.registers[name] = bytes.Clone(value)
	return nil
}

func (f *fake) Break(address uint64, o *session.BreakpointOptions) (*session.Breakpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	hard := ""
	if o.Hardware {
		hard = "h"
	} else if address-fakeMemory >= uint64(len(f.memory)) {
		return nil, session.ErrAddress
	}
	f.id++
	f.note("%sbreak%d:%x", hard, f.id, address)
	b := &session.Breakpoint{ID: f.id, Addresses: []uint64{address}, Options: *o}
	f.points[f.id] = b
	return b, nil
}

func (f *fake) Breakpoints() []*session.Breakpoint { return nil }
func (f *fake) Watch(address uint64, size int, access session.Access, o *session.BreakpointOptions) (*session.Watchpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id++
	f.note("watch%d:%x,%d,%d", f.id, address, size, access)
	return &session.Watchpoint{ID: f.id, Address: address, Size: size, Access: access}, nil
}
func (f *fake) Watchpoints() []*session.Watchpoint { return nil }
func (f *fake) Remove(id int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("remove%d", id)
	return nil
}

var _ program = (*fake)(nil)

// serve makes a server for a fake. It is closed after the test.
func serve(t testing.TB, f *fake, o *Options) *Server {
	t.Helper()
	v, err := newServer(f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}
