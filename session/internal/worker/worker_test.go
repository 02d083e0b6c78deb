// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package worker

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// locked runs a test on a thread that ends with it.
func locked(t *testing.T, f func(t *testing.T, w *Worker)) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		w, err := Start(Options{StackSize: 64 << 10})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(t, w)
	}()
	<-done
}

func TestInterrupt(t *testing.T) {
	locked(t, func(t *testing.T, w *Worker) {
		for range 3 {
			if err := w.Continue(); err != nil {
				t.Fatal(err)
			}
			if err := w.Interrupt(); err != nil {
				t.Fatal(err)
			}
			e, err := w.Wait()
			if err != nil || e.Kind != Stopped || unix.Signal(e.Signal) != unix.SIGSTOP || e.PID != unix.Getpid() {
				t.Fatalf("%+v, %v", e, err)
			}
		}
	})
}

func TestKill(t *testing.T) {
	locked(t, func(t *testing.T, w *Worker) {
		if err := w.Kill(); err != nil {
			t.Fatal(err)
		}
		e, err := w.Wait()
		if err != nil || e.Kind != Killed || unix.Signal(e.Signal) != unix.SIGKILL {
			t.Fatalf("%+v, %v", e, err)
		}
		if err := w.Kill(); err != ErrGone {
			t.Error(err)
		}
	})
}

func BenchmarkStart(b *testing.B) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		for b.Loop() {
			w, err := Start(Options{StackSize: 1 << 20})
			if err != nil {
				b.Error(err)
				return
			}
			w.Close()
		}
	}()
	<-done
}
