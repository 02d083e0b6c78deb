#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, vec::Vec};
pub trait Shape { fn area(&self) -> u32; fn name(&self) -> &'static str { "shape" } }
pub struct Square(u32); pub struct Circle { radius: u32 }
impl Shape for Square { #[inline(never)] fn area(&self) -> u32 { here!(); // STOP print self; print *self; print (*self).0; print self.0; bt 1; whatis self; ptype self
    self.0 * self.0 } }
impl Shape for Circle { #[inline(never)] fn area(&self) -> u32 { let r = self.radius; here!(); // STOP print *self; print self.radius; print r; print r * 3 * r; bt 1; whatis *self
    3 * r * r } fn name(&self) -> &'static str { "circle" } }
#[inline(never)] fn apply<F: Fn(u32) -> u32>(f: F, n: u32) -> u32 { let r = f(n); here!(); // STOP print r; print n; whatis n; bt 1
    r }
#[inline(never)] fn total(list: &[Box<dyn Shape>], pick: fn(u32) -> u32) -> u32 { let mut sum = 0; for s in list { sum += s.area(); }
    here!(); // STOP print sum; print pick; print list; whatis sum; bt 1; print sum == 21
    pick(sum) }
#[inline(never)] fn half(n: u32) -> u32 { n / 2 }
static NAMES: [&str; 3] = ["a", "bb", "ccc"]; const LIMIT: u32 = 99;
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let base = n as u32; let mut count = 0u32;
    let list: Vec<Box<dyn Shape>> = alloc::vec![Box::new(Square(base)), Box::new(Circle { radius: 2 })];
    let r = list[0].area() + list[1].area() + apply(|x| x + base, 4) + total(&list, half) + LIMIT;
    let mut bump = |by: u32| { count += by; count }; bump(2); bump(3);
    core::hint::black_box((&base, &count, &r, &list));
    here!(); // STOP print base; print count; print r; print closures::NAMES; print closures::NAMES[1]; print list.len; whatis closures::NAMES; ptype closures::NAMES; print closures::half; whatis closures::half; print base + count; print r as u8; print r > 10 && base < 5; print base == 3 || count == 0
    (r + count) as i32 + NAMES.len() as i32 + list[0].name().len() as i32
}
