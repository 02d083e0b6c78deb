#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, vec::Vec};
pub trait Named { const KIND: u8; fn name(&self) -> &str; }
pub trait Animal { fn legs(&self) -> u32; fn noise(&self, loud: bool) -> &'static str; fn twice(&self) -> u32 { self.legs() * 2 } }
pub struct Dog { age: u8, name: [u8; 3] }
pub struct Spider<T> { web: T, legs: u32 }
pub struct Robot;
impl Named for Dog { const KIND: u8 = 4; fn name(&self) -> &str { unsafe { core::str::from_utf8_unchecked(&self.name) } } }
impl Animal for Dog {
    #[inline(never)] fn legs(&self) -> u32 {
        let label = self.name();
        core::hint::black_box(&label);
        here!(); // STOP print self; print *self; print label; print self.age; print self.name; print self.name[0]; whatis self; bt 1; print self.age + 1; print/c self.name[2]
        4
    }
    fn noise(&self, loud: bool) -> &'static str { if loud { "WOOF" } else { "woof" } }
}
impl<T: Copy + Into<u32>> Animal for Spider<T> {
    fn legs(&self) -> u32 { self.legs + self.web.into() * 0 }
    fn noise(&self, _: bool) -> &'static str { "" }
    #[inline(never)] fn twice(&self) -> u32 {
        let doubled = self.legs() * 2;
        core::hint::black_box(&doubled);
        here!(); // STOP print self; print *self; print self.web; print doubled; whatis self; ptype self; bt 1; print doubled / 2; print self.legs == 8
        doubled
    }
}
impl Animal for Robot { fn legs(&self) -> u32 { 0 } fn noise(&self, _: bool) -> &'static str { "beep" } }
#[inline(never)]
fn chorus(animals: &[&dyn Animal], handlers: &mut [Box<dyn FnMut(u32) -> u32>], generic: impl Fn(&str) -> usize) -> u32 {
    let mut legs = 0;
    for (k, a) in animals.iter().enumerate() { legs += a.twice(); legs = handlers[k % handlers.len()](legs); legs += generic(a.noise(k == 0)) as u32; }
    core::hint::black_box((&legs, &animals));
    here!(); // STOP print legs; print animals.length; print handlers.length; whatis animals; whatis handlers; whatis legs; bt 1; print legs > 10; print legs % 3; ptype legs
    legs
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let dog = Dog { age: n as u8, name: *b"rex" }; let spider = Spider { web: 7u16, legs: 8 }; let robot = Robot;
    let mut calls = Vec::new(); let offset = n as u32;
    let r = chorus(&[&dog, &spider, &robot], &mut [Box::new(move |x| { calls.push(x); x + offset }), Box::new(|x| x * 2)], |s| s.len());
    let shape: &dyn Animal = &spider; let owned: Box<dyn Animal> = Box::new(Dog { age: 1, name: *b"tim" }); let kind = <Dog as Named>::KIND; let table: [fn(u32) -> u32; 2] = [inc, |x| x - 1]; let maybe: Option<fn(u32) -> u32> = Some(inc); let none: Option<&dyn Animal> = None; let capture = { let text = "moved"; move || text.len() as u32 + offset }; let value = capture();
    core::hint::black_box((&dog, &spider, &robot, &shape, &owned, &kind, &table, &maybe, &none, &capture)); core::hint::black_box((&value, &r));
    here!(); // STOP print dog; print spider; print robot; print kind; print r; print value; print offset; print dog.name; print spider.web; print/c dog.name; whatis shape; whatis owned; whatis table; whatis maybe; whatis none; whatis robot; whatis spider; whatis dog; ptype dog; ptype robot; ptype spider; print none; print table[0]; print dynamic::inc; whatis dynamic::inc; print sizeof(robot); print sizeof(shape); print sizeof(dog); print value + r; print maybe; print capture
    (r + kind as u32 + shape.legs() + owned.legs() + table[1](3) + maybe.map_or(0, |f| f(1)) + none.is_none() as u32 + value) as i32
}
#[inline(never)] fn inc(x: u32) -> u32 { x + 1 }
