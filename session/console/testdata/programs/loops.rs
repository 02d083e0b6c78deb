#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{string::String, vec::Vec};
pub struct Fib { current: u32, next: u32 }
impl Iterator for Fib {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        let result = self.current;
        (self.current, self.next) = (self.next, self.current + self.next);
        Some(result)
    }
}
#[inline(never)]
fn primes(limit: usize) -> ([bool; 32], u32) {
    let mut sieve = [true; 32]; let mut rounds = 0;
    sieve[0] = false; sieve[1] = false;
    'outer: for k in 2.. {
        if k * k > limit { break 'outer; }
        if !sieve[k] { continue 'outer; }
        for m in (k * k..limit).step_by(k) { sieve[m] = false; rounds += 1; }
        core::hint::black_box((&sieve, &rounds, &k));
        here!(); // STOP print k; print rounds; print sieve; print sieve[4]; print sieve[k]; print limit; print k * k; whatis sieve; whatis k; bt 1; print sieve[2] && !sieve[4]; print limit - k
        core::hint::black_box(());
    }
    (sieve, rounds)
}
#[inline(never)]
fn collatz(start: u64) -> (u64, u32) {
    let mut n = start; let mut highest = n;
    let steps = 'count: { let mut steps = 0u32; loop { if n == 1 { break 'count steps; } n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 }; highest = highest.max(n); steps += 1; } };
    core::hint::black_box((&n, &highest, &steps));
    here!(); // STOP print n; print start; print highest; print steps; print highest / start; print steps as u64 * n; whatis steps; whatis highest; bt 1; print highest % 10 == 2
    (highest, steps)
}
#[inline(never)]
fn shadow(text: &str) -> usize {
    let value = text.len();
    let value = value as i16 * -2;
    { let value = [value, 1]; let text = 'z'; core::hint::black_box((&value, &text));
        here!(); // STOP print value; print text; print value[0]; whatis value; whatis text; info locals; print value[0] + value[1]; print text == 'z'
        core::hint::black_box(());
    }
    let value: Option<i16> = if value < 0 { Some(value) } else { None };
    core::hint::black_box(&value);
    here!(); // STOP print value; print text; whatis value; bt 1; print text.length; ptype value
    value.map_or(0, |v| v.unsigned_abs() as usize)
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let (sieve, rounds) = primes(30); let (highest, steps) = collatz(n as u64 + 3); let s = shadow("four");
    let mut fib = Fib { current: 0, next: 1 };
    let evens: Vec<u32> = fib.by_ref().filter(|x| x % 2 == 0).take(4).collect(); let sum: u32 = evens.iter().sum(); let position = evens.iter().position(|x| *x > 2); let pairs: Vec<(usize, char)> = "añb".char_indices().collect(); let mut reversed = String::with_capacity(8); for c in "abc".chars().rev() { reversed.push(c); }
    let (small, large): (Vec<i32>, Vec<i32>) = (0..6).partition(|x| *x < n); let folded = small.iter().zip(&large).fold(0, |a, (x, y)| a * 10 + x * y); let range = 1..n; let inclusive = 0..=n; let from = 2u8..; let words = ["x"; 2]; let nested = [[1u8, 2], [3, 4]].concat(); let any = sieve.iter().any(|p| *p); let skip = (1..20).skip(2).step_by(5).map(|x| x * x).last(); let chained: Vec<i64> = [1i64].into_iter().chain([2, 3]).scan(0, |a, x| { *a += x; Some(*a) }).collect();
    core::hint::black_box((&rounds, &highest, &steps, &fib, &evens, &sum, &position, &pairs, &reversed, &small)); core::hint::black_box((&large, &folded, &range, &inclusive, &from, &words, &nested, &any, &skip, &chained));
    here!(); // STOP print rounds; print highest; print steps; print fib; print fib.current; print evens; print sum; print position; print pairs; print pairs[1]; print pairs[1].1; print reversed; print small; print large; print folded; print range; print range.start; print inclusive; print from; print words; print nested; print any; print skip; print chained; print s; whatis pairs; whatis range; whatis inclusive; ptype range; ptype inclusive; whatis from; ptype fib; whatis evens; print evens[1] + evens[2]; print range.end - range.start; print sum == 44 || any; print sizeof(range)
    n + rounds as i32 + steps as i32 + highest as i32 + s as i32 + sum as i32 + folded + large.len() as i32
}
