// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package unwind walks a stack: from the registers of a thread to its frames,
// one return address after the other.
//
// A [Walker] needs the [Registers], the [Modules] that the code belongs to, and
// memory to read. Each module's [Source] finds the [Rules] at an address: a
// [Table] holds all of a section, compiled once, for many look-ups; [Sections]
// compiles only what a walk meets. Every register that the rules say something
// of is recovered, as a later frame's rules can need any of them. A [Frame]
// tells by which [Method] it was found, and the walk for which [Reason] it ended.
//
// [Walker.Follow] walks one sample of a thread after the other along a [Trail],
// the path of the sample before: most of its frames are only looked at again. It
// tells where each frame is, and not its registers.
//
// Addresses are run-time addresses, but those that a Source is asked for, which
// are without load bias. Memory, tables and registers are not trusted: a walk
// ends within [Walker.MaxFrames] frames whatever they hold.
//
// Package unwind stops no thread and reads no process or file (package
// snapshot/process does), names no function (package object does), and does not scan a stack for what
// looks like a return address: of an interrupted frame without rules it looks at one
// word, and says so (FromReturnAddress, Frame.Gap). The frames of functions of x86-64
// without rules are left by what their instructions do to the stack pointer (FromCode).
package unwind
