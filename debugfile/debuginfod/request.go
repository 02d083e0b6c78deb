// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Curl implements Client.Get with the program curl, found in $PATH. It sends the
// header lines of the file that DEBUGINFOD_HEADERS_FILE names. It uses the proxies of
// the environment and does not read the user's curlrc.
func Curl(ctx context.Context, url string, to io.Writer) error {
	path, err := exec.LookPath("curl")
	if err != nil {
		return errors.New("cannot be asked: curl is not installed")
	}
	args := []string{
		"--disable", "--silent", "--show-error", "--fail", "--globoff", "--no-buffer",
		// With --location curl drops the body of a redirection, but does not follow it.
		"--location", "--max-redirs", "0", "--proto", "=http,https",
		"--compressed", "--user-agent", "clew",
		"--write-out", `%{stderr}\n%{http_code} %{redirect_url}`,
	}
	if name := os.Getenv("DEBUGINFOD_HEADERS_FILE"); name != "" {
		args = append(args, "--header", "@"+name)
	}
	cmd := exec.CommandContext(ctx, path, append(args, "--url", url)...)
	var said tail
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = to, &said, time.Second
	if err = cmd.Run(); err == nil {
		return nil
	}
	text := strings.TrimSpace(string(said))
	at := strings.LastIndexByte(text, '\n') + 1
	code, leads, _ := strings.Cut(text[at:], " ")
	text = strings.TrimSpace(text[:at])
	switch {
	case leads != "":
		return &RedirectError{leads}
	case code == "404" || code == "410":
		return fmt.Errorf("%s: %w", url, fs.ErrNotExist)
	case text == "":
		return fmt.Errorf("curl: %w", err)
	}
	return errors.New(text)
}

// tail keeps the last bytes that were written.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(0, len(p)-maxTail):]...)
	*t = (*t)[max(0, len(*t)-maxTail):]
	return len(p), nil
}

const maxTail = 8 << 10 // a URL and curl's messages

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
