#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, vec, vec::Vec};
pub struct Counter { count: u32, step: u32, log: Vec<u32> }
pub struct Meters(f64);
#[derive(Clone, Copy, PartialEq)]
pub enum Side { Left = 1, Right = 2 }
pub trait Area { fn area(&self) -> u32; }
impl Counter {
    #[inline(never)] pub fn get(&self) -> u32 { self.count }
    #[inline(never)] pub fn plus(&self, n: u32) -> u32 { self.count + n }
    #[inline(never)] pub fn bump(&mut self, by: u32) -> u32 { self.count += by * self.step; self.count }
    #[inline(never)] pub fn is_above(&self, other: &Counter) -> bool { self.count > other.count }
    #[inline(never)] pub fn ratio(&self, by: f64) -> f64 { self.count as f64 * by }
    #[inline(never)] pub fn letter(&self) -> char { 'k' }
    #[inline(never)] pub fn zero() -> u32 { 40 }
    #[inline(never)] pub fn maximum(a: u32, b: u32) -> u32 { if a > b { a } else { b } }
    #[inline(never)] pub fn checked(&self, n: u32) -> Option<u32> { self.count.checked_sub(n) }
    #[inline(never)] pub fn pair(&self) -> (u8, u32) { (1, self.count) }
    #[inline(never)] pub fn itself(&self) -> &Counter { self }
    #[inline(never)]
    pub fn run(&mut self, n: u32) -> u32 {
        let before = self.count;
        self.count += n;
        core::hint::black_box((&before, &self.count));
        here!(); // STOP print self.get(); print self.plus(1); print before; print self.is_above(self); print self.ratio(0.5); print methods::Counter::maximum(3, 4); print methods::Counter::zero(); bt 1; print self.bump(1); print self.count; print self.get() > 3; print self.plus(before)
        self.count - before
    }
}
impl Meters { #[inline(never)] pub fn feet(&self) -> f64 { self.0 * 3.25 } }
impl Side { #[inline(never)] pub fn sign(self) -> i32 {
    let sign = if self == Side::Left { -1 } else { 1 };
    core::hint::black_box(&sign);
    here!(); // STOP bt 1; print self; print sign; print self.sign(); break methods::Side::sign; frame function methods::Side::sign
    sign
} }
impl Area for Meters { #[inline(never)] fn area(&self) -> u32 { 7 } }
#[inline(never)] fn double(n: i32) -> i32 { n * 2 }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut c = Counter { count: n as u32, step: 2, log: vec![1] };
    let other = Counter { count: 9, step: 1, log: vec![] };
    let reference = &other; let boxed = Box::new(Counter { count: 5, step: 5, log: vec![2, 3] });
    let m = Meters(2.0); let side = Side::Right; let shape: &dyn Area = &m;
    let mut r = c.run(4) + other.get() + c.plus(1) + reference.is_above(&boxed) as u32 + c.bump(1) + Counter::zero() + Counter::maximum(r_of(n), 2) + c.checked(2).unwrap_or(0) + c.pair().1 + boxed.itself().count + c.letter() as u32;
    r += m.feet() as u32 + side.sign() as u32 + shape.area() + double(n) as u32 + c.ratio(1.5) as u32 + c.log.len() as u32;
    core::hint::black_box((&c, &other, &reference, &boxed, &m, &side, &shape, &r));
    here!(); // STOP print c.get(); print other.get(); print reference.get(); print boxed.get(); print c.plus(5); print c.plus(other.get()); print c.is_above(&other); print other.is_above(&c); print c.ratio(2.0); print c.letter(); print methods::Counter::zero(); print methods::Counter::maximum(7, 2); print m.feet(); print methods::double(4); print side.sign(); print m.area(); print c.nosuch(); print c.zero(); print c.get; print c.bump(1); print c.count; print c.get() + 1; print c.get() == 9; whatis c.get(); whatis c.ratio(1.0); print c.itself(); print *c.itself(); print c.plus(); print methods::Counter::get(&c); print methods::Counter::plus(&c, 2); print n.get(); print c.log.len(); print c.get() as u8; print -c.get(); print/x c.get(); whatis c.letter()
    core::hint::black_box((&c, &other, &reference, &boxed, &m, &side, &shape, &r));
    r as i32
}
#[inline(never)] fn r_of(n: i32) -> u32 { n as u32 }
