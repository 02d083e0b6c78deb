// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Documentation/driver-api/early-userspace/buffer-format.rst: magic, inode, mode,
// owner, group, links, time, size, device, number of a device file, length of the
// name with its NUL, checksum.
const folderAndFile = "" +
	"070701" + "00000001" + "000041ed" + "00000000" + "00000000" + "00000001" + "00000000" + "00000000" +
	"00000000" + "00000000" + "00000000" + "00000000" + "00000004" + "00000000" + "bin\x00" + "\x00\x00" +
	"070701" + "00000002" + "000081ed" + "00000000" + "00000000" + "00000001" + "00000000" + "00000005" +
	"00000000" + "00000000" + "00000000" + "00000000" + "00000007" + "00000000" + "bin/sh\x00" + "\x00\x00\x00" +
	"shell" + "\x00\x00\x00" +
	"070701" + "00000003" + "00002180" + "00000000" + "00000000" + "00000001" + "00000000" + "00000000" +
	"00000000" + "00000000" + "00000005" + "00000001" + "00000002" + "00000000" + "c\x00" +
	"070701" + "00000000" + "00000000" + "00000000" + "00000000" + "00000001" + "00000000" + "00000000" +
	"00000000" + "00000000" + "00000000" + "00000000" + "0000000b" + "00000000" + "TRAILER!!!\x00" + "\x00\x00\x00"

func TestWriteTree(t *testing.T) {
	tree := make(tree)
	tree.add("c", file{mode: typeDevice | 0o600, major: 5, minor: 1})
	err := tree.addFS(fstest.MapFS{"sh": {Data: []byte("shell"), Mode: 0o755}}, "/bin")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tree.write(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != folderAndFile {
		t.Errorf("wrote\n%q\nwant\n%q", b.String(), folderAndFile)
	}
}
