// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/clewdev/clew/scripts/machine/exchange"
)

const emulator = "qemu-system-aarch64"

// endedEarly is the exit status of a run if the machine ended before the command, for example
// by a panic of its kernel. It is EX_TEMPFAIL of sysexits.h: another attempt may succeed.
const endedEarly = 75

func main() {
	var err error
	status := 0
	switch {
	case len(os.Args) > 2 && os.Args[1] == "run":
		status, err = runWithMachine(os.Args[2:])
	case len(os.Args) > 2 && os.Args[1] == "exec":
		status, err = execute(os.Args[2:])
	default:
		err = errors.New("usage: machine run -kernel FILE [-root FOLDER] COMMAND [ARGUMENT ...], or machine exec PROGRAM [ARGUMENT ...]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "machine:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

// runWithMachine runs a command while a machine runs.
func runWithMachine(args []string) (int, error) {
	flags := flag.NewFlagSet("machine run", flag.ExitOnError)
	kernel := flags.String("kernel", "", "the arm64 kernel")
	rootFolder := flags.String("root", "", "a directory with more files of the machine")
	flags.Parse(args)
	if flags.NArg() == 0 || *kernel == "" {
		return 2, errors.New("run needs a kernel and a command")
	}
	root, err := os.MkdirTemp("", "clew-machine-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(root)
	for _, folder := range []string{exchange.RunFolder(root), exchange.ToolFolder(root), filepath.Join(root, "tmp")} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return 1, err
		}
	}
	initramfs := filepath.Join(root, "initramfs")
	if err := writeInitramfs(initramfs, *rootFolder); err != nil {
		return 1, err
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	ended := make(chan error, 1)
	go func() {
		err := emulate(ctx, root, *kernel, initramfs)
		os.WriteFile(exchange.Ended(root), []byte(err.Error()), 0o644)
		ended <- err
	}()
	go serveTools(ctx, root)

	// If a time limit ends the run, the last lines of the console are printed too.
	asked, ignore := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer ignore()
	cmd := exec.CommandContext(asked, flags.Arg(0), flags.Args()[1:]...)
	cmd.Env = append(os.Environ(), exchange.Variable+"="+root)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	select {
	case err := <-ended:
		return endedEarly, fmt.Errorf("the machine ended before the command: %w", err)
	default:
	}
	end()
	<-ended
	if asked.Err() != nil {
		return 1, fmt.Errorf("ended by a signal; the last lines of the machine's console:\n%s", console(root))
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		fmt.Fprintf(os.Stderr, "machine: the last lines of its console:\n%s\n", console(root))
		return max(exit.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// emulate runs the machine until the context ends. It always returns an error.
func emulate(ctx context.Context, root, kernel, initramfs string) error {
	cmd := exec.CommandContext(ctx, emulator,
		"-M", "virt",
		// pauth-impdef: the architected algorithm of pointer authentication is slow to
		// emulate, and Debian's kernel signs its return addresses.
		"-cpu", "max,pauth-impdef=on",
		"-smp", "2", "-m", "3G",
		"-accel", "tcg,thread=multi,tb-size=512",
		"-kernel", kernel, "-initrd", initramfs,
		// A kernel that panics reboots, and -no-reboot makes that the end. A kernel that
		// hangs panics, and prints where (loglevel). Unknown parameters become init's
		// environment.
		"-append", "console=ttyAMA0 loglevel=5 softlockup_panic=1 watchdog_thresh=30 panic=-1 "+exchange.Variable+"="+root,
		"-no-reboot", "-nic", "none", "-display", "none", "-monitor", "none",
		"-serial", "file:"+filepath.Join(root, "console"),
		"-semihosting-config", "enable=on,userspace=on,target=native")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err == nil {
		err = errors.New("it shut down")
	}
	return fmt.Errorf("%s: %w\n%s%s", emulator, err, stderr.String(), console(root))
}

// console returns the last lines of the machine's console.
func console(root string) string {
	text, _ := os.ReadFile(filepath.Join(root, "console"))
	lines := strings.SplitAfter(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-80):], "")
}

// poll calls a function at an interval until it returns true or the context ends.
func poll(ctx context.Context, every time.Duration, done func() bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
