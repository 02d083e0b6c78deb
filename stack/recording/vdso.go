// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"encoding/hex"
	"errors"
	"os"
	"slices"

	"github.com/clewdev/clew/object"
	"github.com/clewdev/clew/snapshot"
)

const vdsoName = "[vdso]"

// ownVDSO opens the vDSO that the kernel has given this process. It returns nil if that
// is not the recorded one.
func (b *builder) ownVDSO(buildID string) *object.File {
	o, err := openVDSO()
	if err != nil {
		return nil
	}
	id, err := hex.DecodeString(buildID)
	if len(id) == 0 && err == nil && (b.machine == nil || o.Machine().ELF == b.machine.ELF) ||
		len(id) > 0 && o.CheckBuildID(vdsoName, id) == nil {
		return o
	}
	o.Close()
	return nil
}

func openVDSO() (*object.File, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	mappings, err := snapshot.ParseMappings(maps)
	i := slices.IndexFunc(mappings, func(m snapshot.Mapping) bool { return m.Path == vdsoName })
	if i < 0 {
		return nil, errors.Join(errors.New("this process has no vDSO"), err)
	}
	m := &mappings[i]
	image := make([]byte, m.End-m.Start)
	if _, err := memory.ReadAt(image, int64(m.Start)); err != nil {
		return nil, err
	}
	return object.NewFile(image, vdsoName)
}
