// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/debuginfod"
)

// Only redirections to servers that the user has named are followed.
func TestRedirects(t *testing.T) {
	const asked = "/buildid/1234/debuginfo"
	for _, test := range []struct {
		server, location string
		want             string // the next requested URL, or a part of the error
	}{
		{"http://a", "/x?y=1", "http://a/x?y=1"},
		{"http://a/b/", "x", "http://a/b/buildid/1234/x"},
		{"http://a", "http://A:80/x", "http://A:80/x"},
		{"http://a", "https://a/x", "https://a/x"},
		{"http://a", "//a/x", "http://a/x"},
		{"http://a:8002", "http://a:8002/x", "http://a:8002/x"},
		{"http://a", "http://named:1234/x", "http://named:1234/x"},
		{"http://a", "http://named/x", `redirects to "http://named", which is not one of`},
		{"http://a", "http://a:8002/x", `redirects to "http://a:8002", which is not one of`},
		{"http://a:8002", "https://a/x", `redirects to "https://a", which is not one of`},
		{"http://a", "https://a.b/x", `redirects to "https://a.b", which is not one of`},
		{"http://a", "http://user@b/x", `redirects to "http://b", which is not one of`},
		{"http://a", "http:/x", `redirects to "http://", which is not one of`},
		{"https://a", "http://a/x", "redirects from https to http"},
		{"http://a", "file:///etc/passwd", "redirects to file:, which is neither http nor https"},
		{"http://a", "gopher://a/x", "redirects to gopher:, which"},
		{"http://a", "http://[", "redirects to an invalid URL"},
		{"http://a", "http://a/\x1b[2J", "redirects to an invalid URL"},
		{"http://a", "/" + strings.Repeat("x", 1<<13), "redirects to an invalid URL"},
	} {
		var urls []string
		c := debuginfod.Client{
			Servers: []string{test.server, "http://named:1234"},
			Get: func(_ context.Context, url string, _ io.Writer) error {
				if urls = append(urls, url); len(urls) == 1 {
					return &debuginfod.RedirectError{Location: test.location}
				}
				return fs.ErrNotExist
			},
		}
		_, err := c.Fetch(debugfile.DebugInfo, []byte{0x12, 0x34})
		refused := strings.HasPrefix(test.want, "redirects")
		var of *debuginfod.ServerError
		switch {
		case !strings.HasSuffix(urls[0], asked):
			t.Errorf("%s: asked first: %s", test.server, urls[0])
		case refused && (!errors.As(err, &of) || !strings.HasPrefix(of.Reason, test.want) || urls[1] != "http://named:1234"+asked):
			t.Errorf("%s to %q: %v after %q; want %s", test.server, test.location, err, urls, test.want)
		case !refused && (!errors.Is(err, fs.ErrNotExist) || urls[1] != test.want):
			t.Errorf("%s to %q: %v after %q; want %s", test.server, test.location, err, urls, test.want)
		}
	}
}
