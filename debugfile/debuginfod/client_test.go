// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux

package debuginfod_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clewdev/clew/debugfile"
	"github.com/clewdev/clew/debugfile/debuginfod"
	"github.com/clewdev/clew/internal/testprogram"
)

const rightID = "1234567890abcdef"

// program returns a compiled program with a build ID.
func program(t *testing.T, id string) []byte {
	t.Helper()
	b, err := os.ReadFile(testprogram.Build(t, "chain.c", "-O1", "-Wl,--build-id=0x"+id))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inPlace does not follow redirections.
var inPlace = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// byHTTP is a Client.Get by net/http.
func byHTTP(ctx context.Context, url string, to io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := inPlace.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		_, err = io.Copy(to, response.Body)
		return err
	case http.StatusNotFound, http.StatusGone:
		return fs.ErrNotExist
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return &debuginfod.RedirectError{Location: response.Header.Get("Location")}
	}
	return errors.New(response.Status)
}

// serve starts a server that is stopped, even during a response, when the test ends.
func serve(t *testing.T, handler http.HandlerFunc) (server string, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL, requests
}

func fetch(t *testing.T, c *debuginfod.Client) (string, []byte, error) {
	t.Helper()
	id, _ := hex.DecodeString(rightID)
	f, err := c.Fetch(debugfile.DebugInfo, id)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return f.Name(), b, nil
}

// eachGet runs a test with each implementation of Get.
func eachGet(t *testing.T, test func(t *testing.T, get func(context.Context, string, io.Writer) error)) {
	t.Run("net/http", func(t *testing.T) { t.Parallel(); test(t, byHTTP) })
	t.Run("curl", func(t *testing.T) {
		testprogram.RequireTool(t, "curl")
		t.Parallel()
		test(t, debuginfod.Curl)
	})
}

// A fetched file is in the cache, in the layout that all clients share. So is, for a
// while, the information that no server has it.
func TestFetch(t *testing.T) {
	eachGet(t, func(t *testing.T, get func(context.Context, string, io.Writer) error) {
		right := program(t, rightID)
		var has atomic.Bool
		server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/at/buildid/"+rightID+"/debuginfo" || !has.Load() {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(right)
			z.Close()
		})
		cache := filepath.Join(t.TempDir(), "a", "cache")
		client := func() *debuginfod.Client {
			return &debuginfod.Client{Servers: []string{server + "/at/"}, Cache: cache, Get: get}
		}
		path := filepath.Join(cache, rightID, "debuginfo")

		for range 2 {
			if _, _, err := fetch(t, client()); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("a missing file: %v", err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 0 || requests.Load() != 1 {
			t.Fatalf("a missing file: %v, %v, %d requests", info, err, requests.Load())
		}
		has.Store(true)
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			name, got, err := fetch(t, client())
			if err != nil || name != path || string(got) != string(right) {
				t.Fatalf("%s, %d bytes: %v", name, len(got), err)
			}
		}
		if requests.Load() != 2 {
			t.Errorf("%d requests, expected one that is answered by 404 and one", requests.Load())
		}
		// A cached file with another build ID is fetched again.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, program(t, "fedcba0987654321"), 0o400); err != nil {
			t.Fatal(err)
		}
		if _, got, err := fetch(t, client()); err != nil || string(got) != string(right) {
			t.Errorf("in the place of another file: %d bytes, %v", len(got), err)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("%v is left", entries)
		}
	})
}

// A misbehaving server is reported and not asked again. It leaves nothing in the cache.
func TestHostileServer(t *testing.T) {
	right, wrong := program(t, rightID), program(t, "fedcba0987654321")
	endless := func(w io.Writer) {
		block := make([]byte, 64<<10)
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	has, elsewhere := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(right) })
	defer func() {
		if n := elsewhere.Load(); n != 0 {
			t.Errorf("a server that was not named was asked %d times", n)
		}
	}()
	for _, test := range []struct {
		name   string
		change func(*debuginfod.Client)
		handle http.HandlerFunc
		want   string // in the error by each Get
	}{
		{"hangs", func(c *debuginfod.Client) { c.Stall = 100 * time.Millisecond }, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "gave no answer in 100ms; it is not asked again"},
		{"hangs in the middle", func(c *debuginfod.Client) { c.Stall = 5 * time.Second }, func(w http.ResponseWriter, r *http.Request) {
			w.Write(right[:4096])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "sent nothing more for 5s, after 4096 bytes"},
		{"drips", func(c *debuginfod.Client) { c.Total = time.Second }, func(w http.ResponseWriter, r *http.Request) {
			for i := 0; r.Context().Err() == nil; i++ {
				w.Write(right[i%len(right):][:1])
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}, "exceeded the time of 1s for all fetches"},
		{"sends garbage", nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("<html>please log in</html>"))
		}, "sent an invalid object file: "},
		{"sends nothing", nil, func(http.ResponseWriter, *http.Request) {}, "sent an invalid object file: "},
		{"sends another file", nil, func(w http.ResponseWriter, _ *http.Request) { w.Write(wrong) },
			"sent another file: its build ID is fedcba0987654321, and 1234567890abcdef is expected"},
		{"has a part", nil, func(w http.ResponseWriter, _ *http.Request) { w.Write(right[:len(right)/2]) },
			"sent an incomplete file: the file is truncated: it ends at"},
		{"sends a part", nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(right)))
			w.Write(right[:len(right)/2])
			panic(http.ErrAbortHandler)
		}, "failed: "},
		{"is broken", nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "500"},
		{"leads to a file", nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "file:///proc/self/exe")
			w.WriteHeader(http.StatusFound)
		}, "redirects to file:, which is neither http nor https; it is not asked again"},
		{"leads elsewhere", nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, has+r.URL.Path, http.StatusFound)
		}, "redirects to \"" + has + "\", which is not one of the servers; it is not asked again"},
		{"leads in circles", nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "redirects more than 5 times; it is not asked again"},
		{"sends without end", func(c *debuginfod.Client) { c.MaxSize = 1 << 20 }, func(w http.ResponseWriter, _ *http.Request) {
			endless(w)
		}, "sent more than the limit of 1048576 bytes"},
		{"sends a bomb", func(c *debuginfod.Client) { c.MaxSize = 1 << 20 }, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			endless(gzip.NewWriter(w))
		}, "sent more than the limit of 1048576 bytes"},
		{"no HTTP", func(c *debuginfod.Client) { c.Servers = []string{"file:///usr/lib/debug"} }, nil, "file:///usr/lib/debug is not a URL of http or https"},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachGet(t, func(t *testing.T, get func(context.Context, string, io.Writer) error) {
				server, requests := serve(t, test.handle)
				cache := t.TempDir()
				c := &debuginfod.Client{Servers: []string{server}, Cache: cache, Get: get}
				if test.change != nil {
					test.change(c)
				}
				_, _, err := fetch(t, c)
				var of *debuginfod.ServerError
				if !errors.As(err, &of) || of.Server != c.Servers[0] || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, expected %q", err, test.want)
				}
				before := requests.Load()
				if _, _, again := fetch(t, c); again != err || requests.Load() != before {
					t.Errorf("asked again: %v, %d requests more", again, requests.Load()-before)
				}
				if _, err := c.Fetch(debugfile.Executable, []byte{1, 2}); !errors.Is(err, fs.ErrNotExist) || requests.Load() != before {
					t.Errorf("asked for another file: %v, %d requests more", err, requests.Load()-before)
				}
				if left, _ := os.ReadDir(cache); len(left) > 0 {
					t.Errorf("%v is left in the cache", left)
				}
			})
		})
	}
}

// Servers are asked in turn, and one that redirects to itself or to another of them is
// followed.
func TestServers(t *testing.T) {
	eachGet(t, func(t *testing.T, get func(context.Context, string, io.Writer) error) {
		right := program(t, rightID)
		has, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(right) })
		hasNot, _ := serve(t, http.NotFound)
		leads, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, has+r.URL.Path, http.StatusFound) })
		breaks, asked := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		moved, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if path, ok := strings.CutPrefix(r.URL.Path, "/new"); ok && path != "" {
				w.Write(right)
				return
			}
			w.Header().Set("Location", "/new"+r.URL.Path)
			w.WriteHeader(http.StatusMovedPermanently)
			w.Write(right[:64]) // not of the file
		})
		// A file has no name while it is fetched, so that an interrupted fetch leaves nothing.
		fetching := t.TempDir()
		slow, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Write(right[:len(right)/2])
			w.(http.Flusher).Flush()
			filepath.WalkDir(fetching, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.IsDir() {
					t.Errorf("%s is there, %v", path, err)
				}
				return nil
			})
			w.Write(right[len(right)/2:])
		})
		if _, got, err := fetch(t, &debuginfod.Client{Servers: []string{slow}, Cache: fetching, Get: get}); err != nil || string(got) != string(right) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		for _, servers := range [][]string{{hasNot, has}, {breaks, has}, {leads, has}, {moved}} {
			c := &debuginfod.Client{Servers: servers, Get: get} // no cache
			for range 2 {
				name, got, err := fetch(t, c)
				if err != nil || string(got) != string(right) {
					t.Errorf("%v: %d bytes, %v", servers, len(got), err)
				}
				if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is left: %v", name, err)
				}
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the server that breaks was asked %d times", n)
		}
		// Without a negative answer it stays unknown whether the file exists.
		cache := t.TempDir()
		c := &debuginfod.Client{Servers: []string{breaks, hasNot}, Cache: cache, Get: get}
		if _, _, err := fetch(t, c); !errors.As(err, new(*debuginfod.ServerError)) {
			t.Errorf("one breaks, one has not: %v", err)
		}
		if left, _ := os.ReadDir(cache); len(left) > 0 {
			t.Errorf("%v is left in the cache", left)
		}
	})
}

// Clients that fetch the same file concurrently all get it complete.
func TestClientsAtOnce(t *testing.T) {
	right := program(t, rightID)
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write(right[:1000])
		w.(http.Flusher).Flush()
		w.Write(right[1000:])
	})
	cache := t.TempDir()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			c := &debuginfod.Client{Servers: []string{server}, Cache: cache, Get: byHTTP}
			id, _ := hex.DecodeString(rightID)
			f, err := c.Fetch(debugfile.DebugInfo, id)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if got, err := io.ReadAll(f); err != nil || string(got) != string(right) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wait.Wait()
	if entries, _ := os.ReadDir(filepath.Join(cache, rightID)); len(entries) != 1 || entries[0].Name() != "debuginfo" {
		t.Errorf("the cache has %v", entries)
	}
}

// If the cache is not writable the file is still returned.
func TestNoCache(t *testing.T) {
	right := program(t, rightID)
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(right) })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var dones []bool
	c := &debuginfod.Client{Servers: []string{server}, Cache: filepath.Join(file, "cache"), Get: byHTTP,
		Progress: func(what debugfile.Kind, _ []byte, bytes int64, done bool) {
			if what != debugfile.DebugInfo || bytes > int64(len(right)) {
				t.Errorf("progress: %v, %d bytes", what, bytes)
			}
			dones = append(dones, done)
		}}
	if _, got, err := fetch(t, c); err != nil || string(got) != string(right) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if len(dones) < 3 || dones[0] || !dones[len(dones)-1] {
		t.Errorf("progress: %v", dones)
	}
}

// A file replaces the empty file, whatever its mode.
func TestModeInCache(t *testing.T) {
	right := program(t, rightID)
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(right) })
	c := &debuginfod.Client{Servers: []string{server}, Cache: t.TempDir(), Get: byHTTP}
	note := filepath.Join(c.Cache, rightID, debugfile.DebugInfo.String())
	longAgo := time.Unix(1, 0)
	if err := errors.Join(os.Mkdir(filepath.Dir(note), 0o700), os.WriteFile(note, nil, 0o600), os.Chtimes(note, longAgo, longAgo), os.Chmod(note, 0)); err != nil {
		t.Fatal(err)
	}
	if _, got, err := fetch(t, c); err != nil || string(got) != string(right) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(note); err != nil || info.Mode() != 0o400 {
		t.Errorf("%v, %v: expected mode 0400", info.Mode(), err)
	}
}

// Root writes nothing to another user's cache or to the target of a link in it.
func TestCacheOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root writes to directories of other users")
	}
	right := program(t, rightID)
	found, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(right) })
	none, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	home, elsewhere := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Symlink(elsewhere, filepath.Join(home, "link")), os.Chown(home, 12345, 12345), os.Chown(elsewhere, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{home, filepath.Join(home, "new"), filepath.Join(home, "link", "new")} {
		c := &debuginfod.Client{Servers: []string{none}, Cache: cache, Get: byHTTP}
		if _, _, err := fetch(t, c); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", cache, err)
		}
		c = &debuginfod.Client{Servers: []string{found}, Cache: cache, Get: byHTTP}
		if _, got, err := fetch(t, c); err != nil || string(got) != string(right) {
			t.Errorf("%s: %d bytes, %v", cache, len(got), err)
		}
	}
	for dir, most := range map[string]int{home: 1, elsewhere: 0} {
		if names, err := os.ReadDir(dir); err != nil || len(names) > most {
			t.Errorf("%v, %v: root made files there", names, err)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	for _, name := range []string{"URLS", "CACHE_PATH", "TIMEOUT", "MAXTIME", "MAXSIZE"} {
		t.Setenv("DEBUGINFOD_"+name, "")
	}
	if c := debuginfod.FromEnvironment(); c != nil {
		t.Errorf("%+v without a variable", c)
	}
	t.Setenv("DEBUGINFOD_URLS", " ima:enforcing http://a  https://b:8002/c ")
	t.Setenv("DEBUGINFOD_CACHE_PATH", "/var/cache/debug")
	t.Setenv("DEBUGINFOD_TIMEOUT", "7")
	t.Setenv("DEBUGINFOD_MAXTIME", "-1")
	t.Setenv("DEBUGINFOD_MAXSIZE", "5000000000")
	c := debuginfod.FromEnvironment()
	if c == nil || fmt.Sprint(c.Servers) != "[http://a https://b:8002/c]" || c.Cache != "/var/cache/debug" ||
		c.Stall != 7*time.Second || c.Total != 0 || c.MaxSize != 5000000000 {
		t.Errorf("%+v", c)
	}
}
