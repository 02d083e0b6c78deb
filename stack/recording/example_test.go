// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording_test

import (
	"fmt"
	"log"
	"os"

	"github.com/clewdev/clew/snapshot/perfdata"
	"github.com/clewdev/clew/stack/recording"
)

// Print the stacks of the recording given as argument, each with its number of samples.
func Example() {
	if len(os.Args) < 2 {
		return
	}
	r, err := perfdata.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	rec, err := recording.Read(r, recording.Options{Lines: true})
	if err != nil {
		log.Print(err) // and what was read until then
	}
	for i := range rec.Stacks {
		s := &rec.Stacks[i]
		fmt.Println(s.Samples, "samples of", rec.Threads[s.Thread].Name)
		for _, f := range rec.Frames(s) {
			fmt.Println("\t", f.Symbol.Name)
		}
	}
}
