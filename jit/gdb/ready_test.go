// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package gdb

import (
	"bytes"
	"errors"
	"iter"
	"runtime"
	"slices"
	"testing"

	"github.com/clewdev/clew/jit"
	"github.com/clewdev/clew/jit/gdb/registry"
	"github.com/clewdev/clew/jit/symfile"
)

// A ready image stays in the list unchanged while batches around it are merged and
// withdrawn, until it is withdrawn itself.
func TestPublishImage(t *testing.T) {
	var p Publisher
	file, err := symfile.Append(nil, readyCode(t, 0x7000_0000, "ready"))
	if err != nil {
		t.Fatal(err)
	}
	given := bytes.Clone(file)
	before := Changes()
	r, err := p.PublishImage(given)
	if err != nil {
		t.Fatal(err)
	}
	if n := Changes() - before; n != 1 {
		t.Errorf("%d changes of the list", n)
	}
	clear(given) // it was copied
	var batches []jit.Registration
	for n := range 3 * DefaultMergeAt {
		b, err := p.Publish(readyCode(t, 0x7100_0000+uint64(n)*0x1000, "batch"))
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	holds := func() (n int) {
		lists, err := registry.Read(own(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lists {
			for _, e := range l.Entries {
				if bytes.Equal(e.Image, file) {
					n++
				}
			}
		}
		return n
	}
	if n := holds(); n != 1 {
		t.Errorf("after %d batches the list has the image %d times", len(batches), n)
	}
	for _, b := range batches {
		if err := b.Withdraw(); err != nil {
			t.Fatal(err)
		}
	}
	if n, s := holds(), p.Stats(); n != 1 || s.Functions != 0 || s.Files != 1 || s.Bytes != len(file) {
		t.Errorf("without the batches the list has the image %d times; %+v", n, s)
	}
	if err := r.WithdrawFunctions(1); !errors.Is(err, jit.ErrCode) {
		t.Errorf("a second function: %v", err)
	}
	if err := r.WithdrawFunctions(); err != nil || holds() != 1 {
		t.Errorf("no function: %v, %d images", err, holds())
	}
	if err := r.WithdrawFunctions(0); err != nil {
		t.Error(err)
	}
	if err := r.Withdraw(); err != nil {
		t.Error(err)
	}
	if n, s := holds(), p.Stats(); n != 0 || s.Files != 0 || s.Bytes != 0 {
		t.Errorf("after Withdraw the list has the image %d times; %+v", n, s)
	}
}

func TestPublishImageNotELF(t *testing.T) {
	var p Publisher
	for _, bad := range []string{"", "\x7fEL", "MZ this is a program of another system"} {
		if _, err := p.PublishImage([]byte(bad)); !errors.Is(err, registry.ErrNotELF) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Own returns the address of the function, and of the descriptor of the list.
func TestOwn(t *testing.T) {
	var p Publisher
	r, err := p.Publish(readyCode(t, 0x7000_0000, "own"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Withdraw()
	descriptor, register := Own()
	if name := runtime.FuncForPC(uintptr(register)).Name(); name != registry.RegisterSymbol {
		t.Errorf("the function is %q", name)
	}
	space := own(t)
	space.Symbols = func(string) iter.Seq[uint64] { return slices.Values([]uint64{descriptor}) }
	if lists, err := registry.Read(space); err != nil || len(lists) != 1 || len(lists[0].Entries) == 0 {
		t.Errorf("the descriptor leads to %v, %v", lists, err)
	}
}

func readyCode(t *testing.T, address uint64, name string) *jit.Code {
	t.Helper()
	return &jit.Code{Name: name, Address: address, Text: make([]byte, 16),
		Functions: []jit.Function{{Name: name, Size: 16}}}
}
