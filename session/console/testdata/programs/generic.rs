#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::vec::Vec;
pub struct Stack<T> { items: Vec<T>, limit: usize }
impl<T: Copy> Stack<T> {
    fn new(limit: usize) -> Self { Stack { items: Vec::new(), limit } }
    #[inline(never)] fn push(&mut self, item: T) -> bool {
        let full = self.items.len() >= self.limit;
        if !full { self.items.push(item); }
        here!(); // STOP print self; print *self; print item; print full; print self.limit; print self.items; whatis self; ptype self; ptype item; bt; print self.limit * 2
        !full
    }
}
pub struct Matrix<const R: usize, const C: usize> { cells: [[f32; C]; R] }
impl<const R: usize, const C: usize> Matrix<R, C> { #[inline(never)] fn trace(&self) -> f32 {
    let mut t = 0.0; for k in 0..R { t += self.cells[k][k % C]; }
    here!(); // STOP print t; print *self; print self.cells; print self.cells[1]; print self.cells[0][1]; whatis self.cells; ptype self; bt 1
    t } }
#[inline(never)] fn largest<T: PartialOrd + Copy>(list: &[T]) -> T {
    let mut best = list[0]; for x in list { if *x > best { best = *x; } }
    here!(); // STOP print best; print list; whatis best; bt 1; print list[1]; whatis list
    best }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut s = Stack::new(2); s.push(n); s.push(5i32);
    let mut t: Stack<(u8, char)> = Stack::new(1); t.push((1, 'a'));
    let m = Matrix { cells: [[1.0, 2.0, 3.0], [4.0, 5.0, n as f32]] };
    let r = m.trace() as i32 + largest(&[1, 7, n]) + largest(&[1.5f64, 0.5]) as i32 + largest(&[b'a', b'z']) as i32;
    core::hint::black_box((&s, &t, &m));
    here!(); // STOP print s; print t; print m; print s.items; print m.cells[1][2]; print r; ptype s; ptype t; ptype m; whatis s; whatis t; whatis m; print s.limit == 2; print sizeof(m); print &m.cells; print generic::largest::<i32>
    let r = r + s.items.len() as i32 + t.items.len() as i32;
    core::mem::forget((s, t));
    r
}
