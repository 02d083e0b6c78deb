// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package errorlist_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clewdev/clew/internal/errorlist"
)

func TestList(t *testing.T) {
	for _, limit := range []int{0, 1, 16} {
		l := errorlist.List{Limit: limit}
		l.Add(nil)
		if l.Err() != nil {
			t.Error(l.Err())
		}
		one := errors.New("one")
		l.Add(one)
		for n := range 10000 {
			l.Add(fmt.Errorf("failure %d", n))
		}
		kept := limit
		if kept == 0 {
			kept = 8
		}
		err := l.Err()
		lines := strings.Split(err.Error(), "\n")
		if !errors.Is(err, one) || len(lines) != kept+1 || lines[kept] != fmt.Sprintf("and %d more", 10001-kept) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}
