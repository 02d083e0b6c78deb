// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

// As shares.c, with Rust's ways to call: trait objects, closures, iterators, and a panic that is caught.
// Arguments: the number of threads, and milliseconds of processor time for each, 0 for no end.

use std::hint::black_box;
use std::panic;
use std::thread;

#[repr(C)]
struct Timespec(i64, i64);

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn alarm(seconds: u32) -> u32;
}

fn used() -> i64 {
    let mut t = Timespec(0, 0);
    unsafe { clock_gettime(3, &mut t) }; // CLOCK_THREAD_CPUTIME_ID
    t.0 * 1_000_000_000 + t.1
}

trait Work {
    fn until(&mut self, time: i64);
}

struct Sorting(Vec<u32>);

impl Work for Sorting {
    #[inline(never)]
    fn until(&mut self, time: i64) {
        let mut seed = time as u32;
        while used() < time {
            self.0.iter_mut().for_each(|v| {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                *v = seed
            });
            self.0.sort_by(|a, b| b.cmp(a));
        }
    }
}

struct Panicking;

#[inline(never)]
fn deep(depth: u32) -> u32 {
    if depth == 0 {
        panic::resume_unwind(Box::new("deep"))
    }
    black_box(deep(black_box(depth - 1))) + 1
}

impl Work for Panicking {
    #[inline(never)]
    fn until(&mut self, time: i64) {
        while used() < time {
            let _ = panic::catch_unwind(|| deep(8));
        }
    }
}

#[inline(never)]
fn heavy(work: &mut dyn Work, time: i64) {
    work.until(time);
    black_box(());
}

#[inline(never)]
fn light(work: &mut dyn Work, time: i64) {
    work.until(time);
    black_box(());
}

fn main() {
    let arguments: Vec<i64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    unsafe { alarm(600) };
    let limit = arguments[1] * 1_000_000;
    let threads: Vec<_> = (0..arguments[0])
        .map(|_| {
            thread::spawn(move || {
                let (mut sorting, mut panicking) = (Sorting(vec![0; 100]), Panicking);
                let (begin, slice) = (used(), 1_370_000);
                let mut at = begin;
                while limit == 0 || at - begin < limit {
                    heavy(&mut sorting, at + 3 * slice);
                    light(&mut panicking, at + 4 * slice);
                    at += 4 * slice;
                }
            })
        })
        .collect();
    println!("ready");
    for t in threads {
        t.join().unwrap();
    }
}
