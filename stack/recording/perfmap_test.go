// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
)

// A perf map of another process that had the same ID names nothing, which is noted.
func TestPerfMapOfAnother(t *testing.T) {
	const pid, second = 0x7ffffff0, uint64(time.Second)
	now := time.Now()
	for _, test := range []struct {
		name    string
		symbols string
		began   time.Duration // after the map was written; 0: before the recording
		later   bool          // the code is mapped after the map was first asked
		noted   string
	}{
		{name: "its own", symbols: "10000 20 f\n10100 20 g\n90000 20 gone\n"},
		{name: "its own, of code that is mapped later", symbols: "10000 20 f\n80100 20 g\n90000 20 gone\n", later: true},
		{name: "of code that is elsewhere", symbols: "10000 20 f\n80100 20 g\n90000 20 h\n", noted: "of another process: 1 of its 3 functions"},
		{name: "of before the process", symbols: "10000 20 f\n", began: time.Minute, noted: "of another process: it was last written at"},
		{name: "of the process", symbols: "10000 20 f\n", began: -time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, fmt.Sprintf("tmp/perf-%d.map", pid))
			if err := os.WriteFile(path, []byte(test.symbols), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
			m := newMade()
			m.clock(now.Add(test.began).Add(-time.Second))
			if test.began != 0 {
				m.exec(pid, second)
			}
			if test.later {
				m.mmap(pid, 0x50000, "//anon")
				m.sample(pid, 0x50000, 2*second)
			}
			m.mmap(pid, 0x10000, "//anon")
			m.sample(pid, 0x10004, 3*second)
			if test.later {
				m.mmap(pid, 0x80000, "//anon")
			}
			b := m.build(t, Options{Search: debugfile.Search{Root: root, Stores: []debugfile.Store{}}})
			name := ""
			for i := range b.rec.Places() {
				name += b.rec.Places()[i].Symbol.Name
			}
			want := "f"
			if test.noted != "" {
				want = ""
			}
			if name != want || test.noted != "" && !noted(b, test.noted) || test.noted == "" && len(b.rec.Notes) > 0 {
				t.Errorf("%q, expected %q; %q", name, want, b.rec.Notes)
			}
		})
	}
}
