// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package unwind walks a stack: from the registers of a thread to its frames,
// one return address after the other.
//
// A [Walker] needs the [Registers], the [Modules] that the code belongs to, and
// memory to read. Each module's [Source] finds the [Rules] at an address: a
// [Table] holds all of a section, compiled once, for many look-ups; [Sections]
// compiles only what a walk meets. A walk recovers every register that has a rule,
// because the rules of a later frame can need any of them. A [Frame] holds the [Method]
// by which it was found, and the walker holds the [Reason] for which the walk ended.
//
// [Walker.Follow] walks successive samples of a thread along a [Trail], the path of the
// previous sample. It only checks that most frames are unchanged. It returns the
// address of each frame, but not its registers.
//
// Addresses are run-time addresses, except that a Source takes addresses without load
// bias. Memory, tables and registers are not trusted: a walk ends within
// [Walker.MaxFrames] frames whatever they hold.
//
// Package unwind does not stop threads or read processes and files (package snapshot/process
// does), and does not name functions (package object does). It does not scan a stack for
// likely return addresses: in an interrupted frame without rules it checks one word, and
// marks the result (FromReturnAddress, Frame.Gap). For functions without rules it asks
// Module.Analyze, which package check/coderules implements, and on x86-64 computes the
// caller's frame from the effect of their instructions on the stack pointer ([FromCode]).
package unwind
