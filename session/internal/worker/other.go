// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || !(amd64 || arm64)

package worker

import (
	"errors"
	"fmt"
	"runtime"
)

// Start returns an error that wraps errors.ErrUnsupported.
func Start(Options) (*Worker, error) {
	return nil, fmt.Errorf("a worker on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

// Worker cannot be started on this system.
type Worker struct{ Pass func(*General) bool }

func (*Worker) PID() int                            { return 0 }
func (*Worker) Stack() (low, high uint64)           { return 0, 0 }
func (*Worker) ThreadPointer() uint64               { return 0 }
func (*Worker) Registers(*General) error            { return ErrGone }
func (*Worker) SetRegisters(*General) error         { return ErrGone }
func (*Worker) Continue() error                     { return ErrGone }
func (*Worker) Step() error                         { return ErrGone }
func (*Worker) Interrupt() error                    { return ErrGone }
func (*Worker) Kill() error                         { return ErrGone }
func (*Worker) Wait() (Event, error)                { return Event{}, ErrGone }
func (*Worker) Close() error                        { return nil }
func (*Worker) Watches() bool                       { return false }
func (*Worker) SetWatches([]Watch) error            { return ErrWatches }
func (*Worker) IsWatch(*Event) bool                 { return false }
func (*Worker) Breaks(uint64) (met, left bool)      { return false, false }
func (*Worker) Moved()                              {}
func (*Worker) Matches() []int                      { return nil }
func (*Worker) Float(int) (float64, error)          { return 0, ErrGone }
func (*Worker) SetFloat(int, float64) error         { return ErrGone }
func (*Worker) SetFloats([]float64) error           { return ErrGone }
func (*Worker) Vector(string) ([]byte, error)       { return nil, ErrNoRegister }
func (*Worker) SetVector(string, []byte) error      { return ErrNoRegister }
func (*Worker) ColumnBytes(uint64) ([]byte, bool)   { return nil, false }
func (*Worker) SetColumnBytes(uint64, []byte) error { return ErrNoRegister }
func (*Worker) Save() (*State, error)               { return nil, ErrGone }
func (*Worker) Restore(*State) error                { return ErrGone }
func (*Event) IsTrapInstruction() bool              { return false }
func (*Event) IsStep() bool                         { return false }
func (*Event) IsStop() bool                         { return false }

// State is empty, as General is.
type State struct{}

// General is empty: this system has no workers.
type General struct{}

func (*General) PC() uint64                     { return 0 }
func (*General) SetPC(uint64)                   {}
func (*General) SP() uint64                     { return 0 }
func (*General) SetSP(uint64)                   {}
func (*General) Enter(uint64)                   {}
func (*General) Reset()                         {}
func (*General) Get(string) (uint64, bool)      { return 0, false }
func (*General) Set(string, uint64) bool        { return false }
func (*General) Column(uint64) (uint64, bool)   { return 0, false }
func (*General) SetColumn(uint64, uint64) bool  { return false }
func (*General) Word(int) (uint64, bool)        { return 0, false }
func (*General) SetWord(int, uint64) bool       { return false }
func (*General) StackWord(int) uint64           { return 0 }
func (*General) SetReturn(uint64) (slot uint64) { return 0 }
func (*General) SetVectors(int)                 {}
func (*General) Result() (uint64, uint64)       { return 0, 0 }
func (*General) SetResult(uint64)               {}
func (*General) HideTrapFlag()                  {}
func (*General) TrapFlag() bool                 { return false }
func (*General) ClearTrapFlag()                 {}
func (*General) InSystemCall() bool             { return false }

// Names is empty, as is the result of Vectors.
var Names []Name

func Vectors() []VectorName { return nil }

const (
	TrapAdvance = 0
	MaxWatches  = 0
)
