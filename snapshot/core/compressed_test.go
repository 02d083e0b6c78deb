// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package core

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// endless returns zeros until more were read than the limit.
type endless struct{ left int }

var errNotBounded = errors.New("more was read than the bound allows")

func (e *endless) Read(p []byte) (int, error) {
	if e.left -= len(p); e.left < 0 {
		return 0, errNotBounded
	}
	clear(p)
	return len(p), nil
}

// Data that expands to endless zeros is read up to a limit, and the content before it is kept.
func TestStoreZeros(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "core"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const limit = 10 << 20
	size, err := store(f, &endless{2 * limit}, 1<<10, limit)
	if !errors.Is(err, errTooMuch) || size < limit || size > limit+1<<20 {
		t.Errorf("%d bytes of at most %d: %v", size, limit, err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != size {
		t.Errorf("%d bytes are stored of %d", info.Size(), size)
	}
}
