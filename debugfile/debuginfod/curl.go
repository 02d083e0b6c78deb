// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
