// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package worker

import (
	"bytes"
	"fmt"
	"sync"
	"unsafe"
)

// floatState is struct user_fpsimd_state of asm/ptrace.h.
type floatState struct {
	v          [32][16]byte
	fpsr, fpcr uint32
	_          [2]uint32
}

var newFloatState floatState

func (w *Worker) floatState(s *floatState) error {
	_, err := w.getSet(ntPRFPReg, unsafe.Pointer(s), unsafe.Sizeof(*s))
	return err
}

func (w *Worker) setFloatState(s *floatState) error {
	return w.setSet(ntPRFPReg, unsafe.Pointer(s), unsafe.Sizeof(*s))
}

// firstVector is the DWARF column of v0 (Arm's "DWARF for the Arm 64-bit Architecture", 4.1).
const firstVector = 64

// vectorSet has all registers that are not general ones. tpidr is a register set of its own.
type vectorSet struct {
	floatState
	tpidr [8]byte
}

const tpidrOffset = int(unsafe.Offsetof(vectorSet{}.tpidr))

// vectorNames are the registers of vectorSet.
var vectorNames = sync.OnceValues(func() ([]VectorName, map[string]*VectorName) {
	var list []VectorName
	for n := range 32 {
		list = append(list, VectorName{Name: fmt.Sprintf("v%d", n), Size: 16, Column: firstVector + n, Class: VectorClass, offset: 16 * n})
	}
	list = append(list,
		VectorName{Name: "fpsr", Size: 4, Column: -1, Class: VectorClass, offset: int(unsafe.Offsetof(floatState{}.fpsr))},
		VectorName{Name: "fpcr", Size: 4, Column: -1, Class: VectorClass, offset: int(unsafe.Offsetof(floatState{}.fpcr))},
		VectorName{Name: "tpidr", Size: 8, Column: -1, Class: VectorClass, offset: tpidrOffset})
	return list, indexVectors(list)
})

// Vectors returns the registers that are not general ones.
func Vectors() []VectorName {
	list, _ := vectorNames()
	return list
}

// vectorSet reads the register set with a register into s, and returns the register's bytes in s.
func (w *Worker) vectorSet(s *vectorSet, name string) (field []byte, n *VectorName, err error) {
	_, byName := vectorNames()
	if n = byName[name]; n == nil {
		return nil, nil, ErrNoRegister
	}
	if n.offset >= tpidrOffset {
		_, err = w.getSet(ntARMTLS, unsafe.Pointer(&s.tpidr), unsafe.Sizeof(s.tpidr))
	} else {
		err = w.floatState(&s.floatState)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))[n.offset:][:n.Size], n, err
}

// Vector returns a register that is not a general one, least significant byte first.
func (w *Worker) Vector(name string) ([]byte, error) {
	var s vectorSet
	field, _, err := w.vectorSet(&s, name)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(field), nil
}

// SetVector sets a register that is not a general one. Missing bytes are 0.
func (w *Worker) SetVector(name string, value []byte) error {
	var s vectorSet
	field, n, err := w.vectorSet(&s, name)
	if err != nil {
		return err
	}
	clear(field[copy(field, value):])
	if n.offset >= tpidrOffset {
		return w.setSet(ntARMTLS, unsafe.Pointer(&s.tpidr), unsafe.Sizeof(s.tpidr))
	}
	return w.setFloatState(&s.floatState)
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
