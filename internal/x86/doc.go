// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package x86 decodes the parts of x86-64 instructions: prefixes, opcode, operand bytes and
// size. It knows the legacy encodings, VEX, EVEX and XOP (Intel SDM volume 2, chapter 2 and
// appendix A; AMD APM volume 3, chapter 1). It does not name instructions or operands.
//
// APX's REX2 and extended EVEX prefixes are errors, never another instruction.
//
// Decode allocates only for an error. It reads at most MaxSize bytes.
package x86
