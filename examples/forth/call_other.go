// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package forth

import "errors"

func call(*state, uint64) { panic("forth: a program was loaded where none can run") }

func mapMemory(int) (mapping, memory []byte, err error) { return nil, nil, errors.ErrUnsupported }

func unmapMemory([]byte) error { return nil }
