// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build !linux

package record

import (
	"context"
	"errors"
	"runtime"

	"github.com/clewdev/clew/stack/recording"
)

func run(context.Context, *Options) (*recording.Recording, error) {
	return nil, errors.New("record: perf events exist on Linux only, not on " + runtime.GOOS)
}
