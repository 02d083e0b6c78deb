// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package displace

func makeARM64(code []byte, pc, slot uint64) (*Slot, error)   { return nil, ErrUnsupported }
func decodeARM64(code []byte, pc uint64) (Instruction, error) { return Instruction{}, ErrUnsupported }
