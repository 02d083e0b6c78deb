// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package object

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The hashes are those of: (head -c 4096 F; tail -c 4096 F; printf '%016x' SIZE | xxd -r -p) | sha256sum
func TestHash(t *testing.T) {
	for _, test := range []struct {
		data []byte
		want string
	}{
		{nil, ""},
		{[]byte("a short file\n"), "2533ade886b9b472fc18ae23fb0eadeb"},
		{append(append(bytes.Repeat([]byte{'a'}, 5000), bytes.Repeat([]byte{'b'}, 5000)...), '\n'), "6f2417e311408c1cbb46481869d901e0"},
	} {
		if got := hex.EncodeToString((&File{data: test.data}).Hash()); got != test.want {
			t.Errorf("%d bytes: %s, want %s", len(test.data), got, test.want)
		}
	}
}
