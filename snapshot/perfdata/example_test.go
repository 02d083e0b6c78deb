// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package perfdata_test

import (
	"fmt"
	"io"
	"log"

	"github.com/clewdev/clew/snapshot/perfdata"
)

func Example() {
	r, err := perfdata.Open("testdata/true.data")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Machine().Name, r.Attributes()[0].Name)
	samples, deepest := 0, 0
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		switch body := rec.Body.(type) {
		case *perfdata.Comm:
			if rec.Misc&perfdata.MiscCommExec != 0 {
				fmt.Printf("%d executes %s\n", body.PID, body.Name)
			}
		case *perfdata.Mmap:
			if rec.Misc.Mode() == perfdata.ModeUser {
				fmt.Printf("%d maps %s at %#x\n", body.PID, body.Path, body.Start)
			}
		case *perfdata.Sample:
			samples++
			deepest = max(deepest, len(body.Callchain))
		}
	}
	fmt.Printf("%d samples, at most %d entries in a chain\n", samples, deepest)
	// Output:
	// x86-64 cpu-clock:u
	// 19735 executes true
	// 19735 maps /usr/bin/true at 0x5653e94d1000
	// 19735 maps /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 at 0x7f7d52ab4000
	// 19735 maps [vdso] at 0x7f7d52ab1000
	// 19735 maps /usr/lib/x86_64-linux-gnu/libc.so.6 at 0x7f7d528e2000
	// 27 samples, at most 6 entries in a chain
}
