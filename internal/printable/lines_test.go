// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package printable

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// started is an error with the name of a file at the start of each line.
type started struct {
	name string
	err  error
}

func (s *started) Error() string {
	return s.name + ": " + strings.ReplaceAll(s.err.Error(), "\n", "\n"+s.name+": ")
}

func (s *started) Unwrap() error { return s.err }

// Each joined error is one line, and there are no other lines.
func TestLines(t *testing.T) {
	plain := errors.New("plain")
	path := &fs.PathError{Op: "open", Path: "/tmp/a\nclew: forged", Err: fs.ErrNotExist}
	const escaped = `open /tmp/a\nclew: forged: file does not exist`
	for _, test := range []struct {
		err  error
		want []string
	}{
		{plain, []string{"plain"}},
		{path, []string{escaped}},
		{errors.Join(plain, nil, path), []string{"plain", escaped}},
		{errors.Join(path), []string{escaped}},
		{fmt.Errorf("core: %w", errors.Join(plain, path)), []string{"core: plain", escaped}},
		{fmt.Errorf("a\x1b %w (read as %w; %w)\n", path, errors.Join(path, plain), plain), []string{`a\x1b ` + escaped + " (read as " + escaped, `plain; plain)\n`}},
		{errors.Join(errors.Join(plain, plain), fmt.Errorf("%w", path)), []string{"plain", "plain", escaped}},
		{&started{"x\ny", errors.Join(plain, path)}, []string{`x\ny: plain`, `x\ny: ` + escaped}},
		{&started{"x", path}, []string{"x: " + escaped}},
		{fmt.Errorf("%s", errors.Join(plain, plain)), []string{`plain\nplain`}},
	} {
		if got := Lines(test.err); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, expected %q", test.err, got, test.want)
		}
	}
}
