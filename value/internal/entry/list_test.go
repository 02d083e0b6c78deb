// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package entry

import (
	"encoding/binary"
	"errors"
	"testing"
)

// TestLEB128 reads a number as old versions of gas write it, and rejects one that exceeds 64 bits.
func TestLEB128(t *testing.T) {
	c := NewCursor(SectionName(".debug_loclists"), []byte("\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01\x87\x80\x00"+
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"), binary.LittleEndian)
	if v := c.SLEB128(); v != -7 || c.Err != nil {
		t.Errorf("%d, %v", v, c.Err)
	}
	if v := c.ULEB128(); v != 7 || c.Err != nil {
		t.Errorf("%d, %v", v, c.Err)
	}
	if v := c.ULEB128(); v != 0 || !errors.Is(c.Err, ErrDamaged) {
		t.Errorf("%d, %v", v, c.Err)
	}
}
