// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// Sqlite runs queries of SQLite in several goroutines, with a function of Go in each, and
// writes a profile. With an argument so many SIGPROF are delivered in SQLite.
package main

/*
#cgo CFLAGS: -O2 -g
#cgo LDFLAGS: -lsqlite3
#include <sqlite3.h>
#include <stdlib.h>

sqlite3 *open_database(void);
int query(sqlite3 *db, const char *text);
void deliver_start(long n);
long deliver_done(void), deliver_wrong(void);
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/clewdev/clew/cgotraceback"
)

//export goValue
func goValue(v C.double) C.double { return v * 2 }

func run(db *C.sqlite3, text string) int {
	t := C.CString(text)
	defer C.free(unsafe.Pointer(t))
	return int(C.query(db, t))
}

var wanted int // signals

func load(until time.Time) {
	db := C.open_database()
	defer C.sqlite3_close(db)
	run(db, "create table t(a integer primary key, b text, c real)")
	run(db, "with recursive n(i) as (select 1 union all select i+1 from n where i<5000) insert into t select i, 'row '||i, i*1.5 from n")
	for time.Now().Before(until) || int(C.deliver_done()) < wanted {
		if n := run(db, "select x.b, sum(gofunction(y.c)) from t x join t y on y.a between x.a and x.a+5 where x.b like '%7%' group by x.b order by 2 desc"); n <= 0 {
			panic(n)
		}
	}
}

func main() {
	if err := cgotraceback.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	d := time.Second
	if len(os.Args) > 1 {
		wanted, _ = strconv.Atoi(os.Args[1])
	}
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		panic(err)
	}
	if wanted > 0 { // signals that the callback sends
		C.deliver_start(C.long(wanted))
		d = 0
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { load(time.Now().Add(d)) })
	}
	wait.Wait()
	pprof.StopCPUProfile()
	os.Stdout.Write(b.Bytes())
	if wanted > 0 {
		fmt.Fprintln(os.Stderr, C.deliver_done(), "deliveries,", C.deliver_wrong(), "wrong")
	}
	fmt.Fprintf(os.Stderr, "%+v\n", cgotraceback.ReadCounters())
}
