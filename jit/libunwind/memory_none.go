// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux || (!amd64 && !arm64)

package libunwind

import "errors"

func mapMemory(int, uint64) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapMemory([]byte) {}
