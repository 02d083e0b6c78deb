// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package record_test

import (
	"context"
	"fmt"
	"log"
	"os/exec"

	"github.com/clewdev/clew/record"
)

// A command is recorded from its first instruction until it exits.
func Example() {
	rec, err := record.Run(context.Background(), record.Options{
		Command:   exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"),
		Frequency: 499,
	})
	if err != nil {
		log.Fatal(err)
	}
	samples := uint64(0)
	for i := range rec.Stacks {
		samples += rec.Stacks[i].Samples
	}
	fmt.Println(rec.Events[0].Name, samples > 0, samples == rec.Samples)
	// Output: cpu-clock true true
}
