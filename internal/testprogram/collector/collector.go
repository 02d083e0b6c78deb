// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Package collector starts OpenTelemetry Collectors for tests: the real one, assembled of its Go
// modules in programs/collector.
//
//	last := collector.Start(t, collector.Options{})
//	first := collector.Start(t, collector.Options{Next: last})
package collector

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/clewdev/clew/internal/testprogram"
)

// Options describe a collector.
type Options struct {
	Next     *Collector        // it sends messages there; without one it keeps them
	Cert     string            // file in PEM; if set, it takes messages only with TLS
	Key      string            // of Cert
	ClientCA string            // if set, clients need a certificate of it
	Headers  map[string]string // it refuses messages without these

	NoProfiles, NoMetrics bool // it has no pipeline for these
}

// Collector is a process.
type Collector struct {
	HTTP, GRPC string // addresses with ports

	dir   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// Start starts a collector, which ends with the test. If its modules cannot be downloaded, it
// skips the test.
func Start(t testing.TB, o Options) *Collector {
	t.Helper()
	c := &Collector{dir: t.TempDir(), HTTP: freeAddress(t), GRPC: freeAddress(t)}
	if err := os.WriteFile(filepath.Join(c.dir, "config.yaml"), c.config(&o), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			info := regexp.MustCompile(`(?m)^\S+\tinfo\t.*\n`)
			t.Logf("the collector at %s:\n%s", c.HTTP, info.ReplaceAll(log, nil))
		}
	})
	c.Restart(t)
	return c
}

// Build returns the path of the program.
func Build(t testing.TB) string {
	t.Helper()
	cmd := exec.Command(testprogram.RequireTool(t, "go"), "mod", "download")
	cmd.Dir = testprogram.Path("programs/collector")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("skipped: the modules of the OpenTelemetry Collector cannot be downloaded: %s", out)
	}
	return testprogram.BuildModule(t, "collector")
}

// Restart starts a collector that was killed, with the same addresses and the messages that it
// has kept.
func (c *Collector) Restart(t testing.TB) {
	t.Helper()
	program := Build(t)
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.cmd = exec.Command(program, "--config=file:"+filepath.Join(c.dir, "config.yaml"), "--feature-gates=service.profilesSupport")
	c.cmd.Stdout, c.cmd.Stderr = log, log
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	c.ended = ended
	go func(cmd *exec.Cmd) {
		cmd.Wait()
		close(ended)
	}(c.cmd)
	for timeout := time.After(2 * time.Minute); !listens(c.HTTP) || !listens(c.GRPC); {
		select {
		case <-ended:
			t.Fatal("the collector has ended")
		case <-timeout:
			t.Fatalf("the collector does not listen at %s and %s", c.HTTP, c.GRPC)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill ends a collector at once, as a crash does.
func (c *Collector) Kill() {
	if c.ended != nil {
		c.cmd.Process.Kill()
		<-c.ended
	}
}

// Process returns the process, to stop and continue it.
func (c *Collector) Process() *os.Process { return c.cmd.Process }

// Log returns the text that the collector has printed.
func (c *Collector) Log(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Profiles returns the messages with profiles that the collector has kept.
func (c *Collector) Profiles(t testing.TB) (list []pprofile.Profiles) {
	t.Helper()
	for _, line := range c.lines(t, "profiles") {
		p, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// Metrics returns the messages with metrics that the collector has kept.
func (c *Collector) Metrics(t testing.TB) (list []pmetric.Metrics) {
	t.Helper()
	for _, line := range c.lines(t, "metrics") {
		m, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// lines returns the whole lines of a file.
func (c *Collector) lines(t testing.TB, name string) (list [][]byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if bytes.HasSuffix(line, []byte("\n")) {
			list = append(list, line)
		}
	}
	return list
}

// config returns the configuration in YAML.
func (c *Collector) config(o *Options) []byte {
	settings := new(strings.Builder)
	if o.Cert != "" {
		fmt.Fprintf(settings, ", tls: {cert_file: %q, key_file: %q", o.Cert, o.Key)
		if o.ClientCA != "" {
			fmt.Fprintf(settings, ", client_ca_file: %q", o.ClientCA)
		}
		settings.WriteString("}")
	}
	extensions := "{}"
	used := "[]"
	if len(o.Headers) > 0 {
		var pairs []string
		for name, value := range o.Headers {
			pairs = append(pairs, fmt.Sprintf("%q: %q", name, value))
		}
		extensions = "{headers: {require: {" + strings.Join(pairs, ", ") + "}}}"
		used = "[headers]"
		settings.WriteString(", auth: {authenticator: headers}")
	}
	target, exporter := "lines", fmt.Sprintf("lines: {dir: %q}", c.dir)
	if o.Next != nil {
		target, exporter = "otlp_http", fmt.Sprintf("otlp_http: {endpoint: %q, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}", "http://"+o.Next.HTTP)
	}
	pipelines := ""
	for name, omitted := range map[string]bool{"profiles": o.NoProfiles, "metrics": o.NoMetrics} {
		if !omitted {
			pipelines += fmt.Sprintf("    %s: {receivers: [otlp], exporters: [%s, debug]}\n", name, target)
		}
	}
	return fmt.Appendf(nil, `extensions: %s
receivers:
  otlp:
    protocols:
      http: {endpoint: %q%s}
      grpc: {endpoint: %q%s}
exporters:
  %s
  debug: {verbosity: basic}
service:
  extensions: %s
  telemetry: {metrics: {level: none}}
  pipelines:
%s`, extensions, c.HTTP, settings, c.GRPC, settings, exporter, used, pipelines)
}

// nextPort is a port below those that the kernel chooses (net.ipv4.ip_local_port_range): another program
// could get one of these while the collector does not listen there.
var nextPort atomic.Uint32

func init() { nextPort.Store(rand.Uint32N(1 << 16)) }

func freeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 20000+nextPort.Add(1)%12000)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	panic("unreachable")
}

func listens(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
