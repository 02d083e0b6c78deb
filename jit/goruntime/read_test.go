// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package goruntime

import (
	"os"
	"testing"

	"github.com/clewdev/clew/object"
)

type ownMemory struct{ file *os.File }

func (m ownMemory) ReadMemory(b []byte, address uint64) error {
	_, err := m.file.ReadAt(b, int64(address))
	return err
}

// Other programs find the functions in the list, as clew stack does.
func TestReadFromOutside(t *testing.T) {
	e := newEngine(t)
	defer e.publish(t).Withdraw()
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	f, err := object.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, list, err := f.GoModules(ownMemory{memory}, 0, new(object.GoModuleBudget))
	if err != nil || len(list) < 3 {
		t.Fatalf("%d modules, %v", len(list), err)
	}
	var names []string
	for _, m := range list {
		for g := range m.Functions() {
			names = append(names, g.Name)
		}
		if g, ok, err := m.FunctionAt(uint64(e.entry)); err != nil || ok != (m.Start <= uint64(e.entry) && uint64(e.entry) < m.End) {
			t.Errorf("%+v, %v, %v", g, ok, err)
		}
	}
	if len(names) < 2 || names[0] != "engine.inner" || names[1] != "jit.outer" {
		t.Errorf("%q", names)
	}
}
