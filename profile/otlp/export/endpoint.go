// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Signal is a kind of telemetry.
type Signal uint8

const (
	Profiles Signal = iota
	Metrics
)

// String returns the name of the signal in the names of variables, "PROFILES".
func (s Signal) String() string { return [...]string{"PROFILES", "METRICS"}[s] }

// paths of HTTP and of gRPC.
var (
	httpPaths = [...]string{"/v1development/profiles", "/v1/metrics"}
	grpcPaths = [...]string{
		"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
		"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
	}
)

// Endpoint is where messages of a signal go.
type Endpoint struct {
	URL  string // of http or https, complete; "" if messages of the signal are not sent
	GRPC bool

	Headers   []string // "Name: value"
	Plain     bool     // no compression by gzip
	Timeout   time.Duration
	CA        string // files in PEM; "" for those of the system
	Cert      string // of this client
	Key       string
	UserAgent string

	// Send makes a request. Nil stands for Curl.
	Send func(context.Context, *Request) (*Response, error)
}

// DefaultTimeout is OpenTelemetry's timeout of a request.
const DefaultTimeout = 10 * time.Second

// Endpoints are the endpoints by signal.
type Endpoints [2]Endpoint

// FromEnvironment returns the endpoints that the variables OTEL_EXPORTER_OTLP_* describe, those
// with the name of the signal first: ENDPOINT, PROTOCOL, HEADERS, COMPRESSION, TIMEOUT,
// CERTIFICATE, CLIENT_CERTIFICATE, CLIENT_KEY and INSECURE. A base URL replaces the variables
// ENDPOINT: "http://host:4318" (HTTP) or "grpc://host:4317", with "https" or "grpcs" for TLS.
//
// Metrics have no endpoint if OTEL_METRICS_EXPORTER is "none", or if only profiles have one.
func FromEnvironment(getenv func(string) string, base string) (all Endpoints, err error) {
	for s := range all {
		if all[s], err = fromEnvironment(getenv, base, Signal(s)); err != nil {
			return all, err
		}
	}
	return all, nil
}

// EndpointSet reports whether the environment says where profiles go.
func EndpointSet(getenv func(string) string) bool {
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT") != ""
}

func fromEnvironment(getenv func(string) string, base string, s Signal) (e Endpoint, err error) {
	variable := func(name string) string {
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_"+s.String()+"_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	whole := "" // used as it is
	if base == "" {
		whole, base = getenv("OTEL_EXPORTER_OTLP_"+s.String()+"_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if s == Metrics && (getenv("OTEL_METRICS_EXPORTER") == "none" || whole == "" && base == "" && getenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT") != "") {
		return e, nil
	}
	text := cmp.Or(whole, base, "http://localhost:4318")
	if !strings.Contains(text, "://") && variable("PROTOCOL") == "grpc" { // host:port is valid for gRPC
		scheme := "https://"
		if variable("INSECURE") == "true" {
			scheme = "http://"
		}
		text = scheme + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return e, fmt.Errorf("%q is not a URL such as http://host:4318 or grpc://host:4317", text)
	}
	switch protocol := variable("PROTOCOL"); protocol {
	case "grpc":
		e.GRPC = true
	case "", "http/protobuf":
	default:
		return e, fmt.Errorf("unknown protocol %q, expected http/protobuf or grpc", protocol)
	}
	switch u.Scheme {
	case "http", "https":
	case "grpc", "grpcs":
		e.GRPC, u.Scheme = true, "http"+strings.TrimPrefix(u.Scheme, "grpc")
	default:
		return e, fmt.Errorf("%q has the scheme %s, expected http, https, grpc or grpcs", text, u.Scheme)
	}
	switch {
	case e.GRPC:
		u.Path = grpcPaths[s]
	case whole == "":
		u.Path = strings.TrimSuffix(u.Path, "/") + httpPaths[s]
	}
	if u.User != nil {
		return e, errors.New("the URL contains a password, which other users can see: use OTEL_EXPORTER_OTLP_HEADERS")
	}
	e.URL = u.String()
	return e, e.configure(variable)
}

// configure sets the fields besides the URL.
func (e *Endpoint) configure(variable func(string) string) error {
	for pair := range strings.SplitSeq(variable("HEADERS"), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n\x00") || strings.ContainsAny(name, ": ") {
			return errors.New("OTEL_EXPORTER_OTLP_HEADERS is not of the form NAME=VALUE,NAME=VALUE")
		}
		e.Headers = append(e.Headers, name+": "+value)
	}
	switch c := variable("COMPRESSION"); c {
	case "", "gzip":
	case "none":
		e.Plain = true
	default:
		return fmt.Errorf("unknown compression %q, expected gzip or none", c)
	}
	e.Timeout = DefaultTimeout
	if t := variable("TIMEOUT"); t != "" {
		ms, err := strconv.ParseInt(t, 10, 32)
		if err != nil || ms < 0 {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, expected milliseconds", t)
		}
		if ms > 0 {
			e.Timeout = time.Duration(ms) * time.Millisecond
		}
	}
	e.CA, e.Cert, e.Key = variable("CERTIFICATE"), variable("CLIENT_CERTIFICATE"), variable("CLIENT_KEY")
	return nil
}
