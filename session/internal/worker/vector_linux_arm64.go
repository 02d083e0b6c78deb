// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// simd is struct user_fpsimd_state of asm/ptrace.h.
type simd struct {
	v          [32][16]byte
	fpsr, fpcr uint32
	_          [2]uint32
}

func (w *Worker) simd(s *simd) error {
	_, err := w.getSet(ntPRFPReg, unsafe.Pointer(s), unsafe.Sizeof(*s))
	return err
}

func (w *Worker) setSIMD(s *simd) error {
	return w.setSet(ntPRFPReg, unsafe.Pointer(s), unsafe.Sizeof(*s))
}

// SetFloats sets the floating-point arguments of a call, and all other state of
// the floating-point unit to what a new thread's is.
func (w *Worker) SetFloats(arguments []float64) error {
	var s simd
	for n, a := range arguments {
		binary.LittleEndian.PutUint64(s.v[n][:], math.Float64bits(a))
	}
	return w.setSIMD(&s)
}

// Float returns the low half of the n-th vector register.
func (w *Worker) Float(n int) (float64, error) {
	var s simd
	if n < 0 || n >= len(s.v) {
		return 0, fmt.Errorf("there is no floating-point argument %d in a register", n)
	}
	err := w.simd(&s)
	return math.Float64frombits(binary.LittleEndian.Uint64(s.v[n][:])), err
}

// SetFloat sets the n-th vector register to a number in its low half.
func (w *Worker) SetFloat(n int, v float64) error {
	var s simd
	if err := w.simd(&s); err != nil {
		return err
	}
	s.v[n] = [16]byte{}
	binary.LittleEndian.PutUint64(s.v[n][:], math.Float64bits(v))
	return w.setSIMD(&s)
}

// firstVector is the DWARF column of v0 (Arm's "DWARF for the Arm 64-bit
// Architecture", 4.1).
const firstVector = 64

// vectorNames are the registers that are no general ones. The offset of tpidr is
// behind simd: it is a set of its own.
var vectorNames = sync.OnceValues(func() ([]VectorName, map[string]*VectorName) {
	var list []VectorName
	for n := range 32 {
		list = append(list, VectorName{Name: fmt.Sprintf("v%d", n), Size: 16, Column: firstVector + n, Class: VectorClass, offset: 16 * n})
	}
	list = append(list,
		VectorName{Name: "fpsr", Size: 4, Column: -1, Class: VectorClass, offset: int(unsafe.Offsetof(simd{}.fpsr))},
		VectorName{Name: "fpcr", Size: 4, Column: -1, Class: VectorClass, offset: int(unsafe.Offsetof(simd{}.fpcr))},
		VectorName{Name: "tpidr", Size: 8, Column: -1, Class: VectorClass, offset: int(unsafe.Sizeof(simd{}))})
	byName := map[string]*VectorName{}
	for n := range list {
		byName[list[n].Name] = &list[n]
	}
	return list, byName
})

// Vectors returns the registers that are no general ones.
func Vectors() []VectorName {
	list, _ := vectorNames()
	return list
}

// vectorSet is simd and the thread pointer.
type vectorSet struct {
	simd
	tpidr [8]byte
}

func (s *vectorSet) field(n *VectorName) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))[n.offset:][:n.Size]
}

func (w *Worker) vectorSet(s *vectorSet, n *VectorName) error {
	if n.offset >= int(unsafe.Sizeof(simd{})) {
		_, err := w.getSet(ntARMTLS, unsafe.Pointer(&s.tpidr), unsafe.Sizeof(s.tpidr))
		return err
	}
	return w.simd(&s.simd)
}

// Vector returns a register that is no general one, least significant byte first.
func (w *Worker) Vector(name string) ([]byte, error) {
	_, byName := vectorNames()
	n := byName[name]
	if n == nil {
		return nil, ErrNoRegister
	}
	var s vectorSet
	if err := w.vectorSet(&s, n); err != nil {
		return nil, err
	}
	return append([]byte(nil), s.field(n)...), nil
}

// SetVector sets a register that is no general one; bytes that are missing are zero.
func (w *Worker) SetVector(name string, value []byte) error {
	_, byName := vectorNames()
	n := byName[name]
	if n == nil {
		return ErrNoRegister
	}
	var s vectorSet
	if err := w.vectorSet(&s, n); err != nil {
		return err
	}
	field := s.field(n)
	clear(field[copy(field, value):])
	if n.offset >= int(unsafe.Sizeof(simd{})) {
		return w.setSet(ntARMTLS, unsafe.Pointer(&s.tpidr), unsafe.Sizeof(s.tpidr))
	}
	return w.setSIMD(&s.simd)
}

// ColumnBytes returns the register with a DWARF column.
func (w *Worker) ColumnBytes(column uint64) (value []byte, ok bool) {
	if column-firstVector >= 32 {
		return nil, false
	}
	value, err := w.Vector(Vectors()[column-firstVector].Name)
	return value, err == nil
}

// SetColumnBytes sets the low bytes of the register with a DWARF column.
func (w *Worker) SetColumnBytes(column uint64, p []byte) error {
	old, ok := w.ColumnBytes(column)
	if !ok {
		return ErrNoRegister
	}
	copy(old, p)
	return w.SetVector(Vectors()[column-firstVector].Name, old)
}
