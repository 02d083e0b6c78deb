// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package goruntime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clewdev/clew/object"
)

// Layout is the layout of the structures that describe goroutines, in one version of Go
// (runtime/runtime2.go). Offsets are in bytes, equal for amd64 and arm64, and 0 for fields
// that a version does not have.
type Layout struct {
	Size uint16 // of a g

	// Fields of a g. The bounds of its stack are the first two words.
	M, Sched                            uint16 // Sched: of the gobuf
	SyscallSP, SyscallPC, SyscallBP     uint16
	Status, ID, WaitSince, WaitReason   uint16
	LockedM, Parent, Creation, Function uint16 // Creation: gopc; Function: startpc
	Runs                                uint16 // trackingSeq
	Labels                              uint16

	// Fields of a gobuf. Its first two words are the stack pointer and the program counter.
	LR, BP uint16

	// Fields of an m. Its first word is its g0.
	Signal, Thread, Current, Next uint16 // gsignal, procid, curg, alllink
	Calls, ActiveCalls, InC       uint16 // ncgocall, ncgo, incgo
	Processor, Tick               uint16 // p, syscalltick

	ProcessorTick uint16 // of a p: syscalltick

	States  []string // by status
	Reasons []string // for which a goroutine waits, by number
}

// ErrUnknownVersion reports that neither a table nor debugging information describes the
// structures of a program's version of Go.
var ErrUnknownVersion = errors.New("the runtime's structures are not known")

// garbled is the version in programs that garble has built.
const garbled = "unknown"

// knownLayout is the layout of a release.
type knownLayout struct {
	release string // "go1.26"
	layout  Layout
}

// layoutOf returns the layout of a release, or nil if unknown.
func layoutOf(release string) *Layout {
	for i := range layouts {
		if layouts[i].release == release {
			return &layouts[i].layout
		}
	}
	return nil
}

// LayoutOf returns the layout of a program. The result is shared and must not be changed.
// An error wraps ErrUnknownVersion.
func LayoutOf(f *object.File) (*Layout, error) {
	info, _ := f.Go()
	if l := layoutOf(release(info.Version)); l != nil {
		return l, nil
	}
	version, unknown := info.Version, info.Version == "" || info.Version == garbled
	if unknown {
		if l := recognise(f); l != nil {
			return l, nil
		}
		version = "Go of an unknown version"
	}
	l, err := derive(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnknownVersion, version, err)
	}
	return l, nil
}

// release returns "go1.26" for "go1.26.3" and "go1.26rc1". It returns "" for a version that
// can have other structures: a development version, or one with experiments.
func release(version string) string {
	minor, ok := strings.CutPrefix(version, "go1.")
	n := 0
	for n < len(minor) && '0' <= minor[n] && minor[n] <= '9' {
		n++
	}
	if !ok || n == 0 || strings.ContainsAny(minor, "- ") {
		return ""
	}
	return "go1." + minor[:n]
}
