// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// RedirectError means that the server redirects to another place.
type RedirectError struct {
	Location string // a URL, or relative to the requested one
}

func (e *RedirectError) Error() string { return fmt.Sprintf("redirects to %q", e.Location) }

// maxRedirects bounds the redirections for one file.
const maxRedirects = 5

// errRedirect is the reason for not following a redirection.
type errRedirect string

func (e errRedirect) Error() string { return string(e) }

// follow returns the target of a redirection. It must be on the same server or on another
// one of Servers: other hosts must not get the header lines for them.
func (c *Client) follow(from, location string) (string, error) {
	u, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	to, err := u.Parse(location)
	switch {
	case err != nil || len(location) > maxLocation:
		return "", errRedirect("redirects to an invalid URL")
	case to.Scheme != "http" && to.Scheme != "https":
		return "", errRedirect(fmt.Sprintf("redirects to %s:, which is neither http nor https", to.Scheme))
	case u.Scheme == "https" && to.Scheme == "http":
		return "", errRedirect("redirects from https to http")
	case sameHost(u, to):
		return to.String(), nil
	}
	for _, server := range c.Servers {
		if named, err := url.Parse(server); err == nil && sameHost(named, to) {
			return to.String(), nil
		}
	}
	return "", errRedirect(fmt.Sprintf("redirects to %q, which is not one of the servers", to.Scheme+"://"+to.Host))
}

// maxLocation is longer than any URL that servers accept.
const maxLocation = 4 << 10

// sameHost reports whether two URLs have the same host and port. http and https on their
// standard ports count as the same.
func sameHost(a, b *url.URL) bool {
	ports := map[string]string{"http": "80", "https": "443"}
	standard := func(u *url.URL) bool { return u.Port() == "" || u.Port() == ports[u.Scheme] }
	return strings.EqualFold(a.Hostname(), b.Hostname()) && (standard(a) && standard(b) ||
		cmp.Or(a.Port(), ports[a.Scheme]) == cmp.Or(b.Port(), ports[b.Scheme]))
}
