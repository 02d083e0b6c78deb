// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package source_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/clewdev/clew/internal/testprogram"
	"github.com/clewdev/clew/report/source"
)

var update = flag.Bool("update", false, "write the golden files anew: go test ./report/source -update")

func TestGolden(t *testing.T) {
	for _, name := range []string{"directives", "personality", "arm64", "s390x"} {
		for _, format := range []source.Format{source.Go, source.C, source.Asm} {
			t.Run(name+"."+format.String(), func(t *testing.T) {
				got, _, faults := write(t, open(t, testprogram.Assemble(t, "asm/"+name+".s")), format)
				if faults > 0 {
					t.Errorf("%d faults", faults)
				}
				path := filepath.Join("testdata", name+"."+format.String()+".golden")
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s differs; got\n%s", path, got)
				}
			})
		}
	}
}
