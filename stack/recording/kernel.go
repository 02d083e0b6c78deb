// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack"
)

// kernel is the kernel that was recorded.
type kernel struct {
	object  *stack.Object // nil before it is needed
	modules map[string]*stack.Object
	symbol  string         // "_text" or "_stext"
	address uint64         // of symbol, in the recording
	dynamic []kernelSymbol // code that was loaded during the recording: BPF programs
}

// kernelSymbol is a function of the kernel.
type kernelSymbol struct {
	object.Symbol
	module string // "" for the kernel itself
}

// kernelPath is the kernel's path in recordings.
const kernelPath = "[kernel.kallsyms]"

// mmap takes the address of the kernel, which changes with each boot, from its mapping.
func (k *kernel) mmap(m *perfdata.Mmap) {
	if symbol, ok := bytes.CutPrefix(m.Path, []byte(kernelPath)); ok && k.symbol == "" && len(symbol) > 0 {
		k.symbol, k.address = string(symbol), m.Offset
	}
}

// maxKsymbols bounds the symbols of code that was loaded during the recording.
const maxKsymbols = 1 << 16

func (k *kernel) ksymbol(s *perfdata.Ksymbol) {
	if s.Unregister || len(s.Name) == 0 || len(k.dynamic) >= maxKsymbols {
		return
	}
	module := "bpf"
	if s.Kind != 1 {
		module = ""
	}
	k.dynamic = append(k.dynamic, kernelSymbol{object.Symbol{Name: string(s.Name), Address: s.Address, Size: uint64(s.Length)}, module})
}

func (b *builder) kernelObject() *stack.Object {
	k := &b.kernel
	if k.object == nil {
		k.object = b.add(&stack.Object{Name: KernelName, BuildID: b.buildIDs[kernelPath], System: stack.Kernel})
	}
	return k.object
}

func (b *builder) moduleObject(name string) *stack.Object {
	k := &b.kernel
	o := k.modules[name]
	if o == nil {
		if k.modules == nil {
			k.modules = make(map[string]*stack.Object)
		}
		o = b.add(&stack.Object{Name: "[" + name + "]", Path: k.object.Path, System: stack.Kernel})
		k.modules[name] = o
	}
	return o
}

// kernelSymbols finds the symbols of kernel addresses, which must be sorted.
func (b *builder) kernelSymbols(addresses []uint64) []kernelSymbol {
	k := &b.kernel
	found := make([]kernelSymbol, len(addresses))
	list, path, err := b.kallsyms()
	if err != nil {
		if k.object.Err == nil {
			k.object.Err = err
		}
	} else {
		defer list.close()
		k.object.Path = path
		delta := uint64(0)
		if k.symbol != "" {
			if at, ok := list.address(k.symbol); ok {
				delta = k.address - at
			}
		}
		found = list.find(addresses, delta)
	}
	overlay(found, addresses, k.dynamic)
	return found
}

// overlay replaces the symbols that were found for sorted addresses where a loaded symbol
// covers the address and starts later. Of the loaded symbols that start last, the first
// of the list counts. It takes the same time if all of them cover all addresses.
func overlay(found []kernelSymbol, addresses []uint64, loaded []kernelSymbol) {
	// From the last start to the first, and of equal ones from the first of the list.
	loaded = slices.Clone(loaded)
	slices.SortStableFunc(loaded, func(x, y kernelSymbol) int { return cmp.Compare(y.Address, x.Address) })
	var open []kernelSymbol // that start at or below the address, the one that counts at the end
	for i, address := range addresses {
		for n := len(loaded); n > 0 && loaded[n-1].Address <= address; n = len(loaded) {
			open, loaded = append(open, loaded[n-1]), loaded[:n-1]
		}
		// A symbol that ends below the address covers no later one.
		for n := len(open); n > 0 && address-open[n-1].Address >= open[n-1].Size; n = len(open) {
			open = open[:n-1]
		}
		if n := len(open); n > 0 && (found[i].Name == "" || found[i].Address < open[n-1].Address) {
			found[i] = open[n-1]
		}
	}
}

// kallsyms opens the kernel's symbols: perf's copy for the build ID of the recording,
// else those of the running kernel if it is the same.
func (b *builder) kallsyms() (*kallsyms, string, error) {
	id := b.kernel.object.BuildID
	var failures []error
	for _, path := range b.opts.Search.Kallsyms(id) {
		list, err := openKallsyms(path)
		if err == nil {
			return list, path, nil
		}
		failures = append(failures, err)
	}
	own, err := ownKernelID()
	switch {
	case err != nil:
		failures = append(failures, err)
	case id == "" && (b.rec.Header.OSRelease == "" || b.rec.Header.OSRelease != ownRelease()):
		// perf lists no build ID of an object without samples.
		failures = append(failures, errors.New("the recording has no build ID of the kernel"))
	case id != "" && own != id:
		failures = append(failures, fmt.Errorf("the running kernel has build ID %s, the recorded one %s", own, id))
	default:
		path := "/proc/kallsyms"
		data, err := readKallsyms()
		list := &kallsyms{text: data}
		if err == nil && list.hidden() {
			err = fmt.Errorf("%s: the addresses are hidden (sysctl kernel.kptr_restrict)", path)
		}
		if err == nil {
			return list, path, nil
		}
		failures = append(failures, err)
	}
	return nil, "", fmt.Errorf("kernel symbols: %w", errors.Join(failures...))
}

// readKallsyms reads the list of the running kernel. It has some megabytes, but no size: os.ReadFile would
// copy it each time that its buffer grows.
func readKallsyms() ([]byte, error) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := bytes.NewBuffer(make([]byte, 0, 16<<20))
	_, err = data.ReadFrom(f)
	return data.Bytes(), err
}

func ownRelease() string {
	data, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(data))
}

// ownKernelID returns the build ID of the running kernel, from its notes (gABI,
// "Note Section").
func ownKernelID() (string, error) {
	const path = "/sys/kernel/notes"
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	word := func(at int) uint64 { return uint64(binary.NativeEndian.Uint32(b[at:])) }
	for len(b) >= 12 {
		name, size, kind := word(0), word(4), word(8)
		start := 12 + (name+3)&^3
		end := start + size
		if name > uint64(len(b)) || size > uint64(len(b)) || end > uint64(len(b)) {
			break
		}
		if kind == 3 && string(b[12:12+name]) == "GNU\x00" {
			return hex.EncodeToString(b[start:end]), nil
		}
		b = b[min((end+3)&^3, uint64(len(b))):]
	}
	return "", fmt.Errorf("%s: no build ID", path)
}
