#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use core::ops::{Add, Index, IndexMut, Mul, Neg};
#[derive(Clone, Copy, PartialEq)]
pub struct Vector { x: f32, y: f32, z: f32 }
#[derive(Clone, Copy)]
pub struct Complex<T> { re: T, im: T }
pub struct Quad([f64; 4]);
impl Add for Vector { type Output = Self; fn add(self, o: Self) -> Self { Vector { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z } } }
impl Mul<f32> for Vector { type Output = Self; fn mul(self, k: f32) -> Self { Vector { x: self.x * k, y: self.y * k, z: self.z * k } } }
impl Neg for Vector { type Output = Self; fn neg(self) -> Self { self * -1.0 } }
impl Index<usize> for Quad { type Output = f64; fn index(&self, k: usize) -> &f64 { &self.0[k & 3] } }
impl IndexMut<usize> for Quad { fn index_mut(&mut self, k: usize) -> &mut f64 { &mut self.0[k & 3] } }
impl<T: Copy + Mul<Output = T> + Add<Output = T>> Complex<T> {
    #[inline(never)]
    fn norm(self) -> T {
        let squares = (self.re * self.re, self.im * self.im);
        core::hint::black_box(&squares);
        here!(); // STOP print squares; print self; print self.re; print squares.0; print squares.0 + squares.1; print self.re * self.im; whatis squares; whatis self; ptype self; print squares.1 / 2.0; bt 1
        squares.0 + squares.1
    }
}
#[inline(never)]
fn dot(a: &Vector, b: &Vector) -> f32 {
    let terms = [a.x * b.x, a.y * b.y, a.z * b.z];
    let mut sum = 0f32;
    for t in terms { sum += t; }
    core::hint::black_box((&terms, &sum));
    here!(); // STOP print terms; print sum; print a; print *a; print b.x; print a.x + b.y; print sum * 2.0; print sum / 3.0; print sum > 1.5; print terms[1]; print -sum; print sum as i32; print sum as f64; whatis sum; whatis terms; whatis a; print/x sum; print/f terms; bt 1; print sum == sum
    sum
}
#[inline(never)]
fn root(n: f64) -> f64 {
    let mut guess = n / 2.0; let mut previous = 0.0; let mut rounds = 0u8;
    while (guess - previous) * (guess - previous) > 1e-12 { previous = guess; guess = (guess + n / guess) / 2.0; rounds += 1; }
    core::hint::black_box((&guess, &previous, &rounds));
    here!(); // STOP print guess; print rounds; print n; print guess * guess; print guess as u8; print previous > guess; print n / 3.0; whatis guess; print n == 2.0; print guess - 1.0; print rounds as f64
    guess
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let a = Vector { x: 1.5, y: -2.25, z: n as f32 }; let b = -(a + Vector { x: 0.1, y: 0.2, z: 0.3 } * 2.0);
    let c = Complex { re: 3.0f64, im: 4.0 }; let f = Complex { re: 0.5f32, im: 0.25 };
    let m = c.norm() + f.norm() as f64; let d = dot(&a, &b); let r = root(2.0);
    let mut quad = Quad([0.0; 4]); quad[1] = 1e300; quad[2] = -1e-300; quad[3] = 1.0 / 3.0;
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MIN_POSITIVE, f32::MAX, f32::EPSILON]; let odd = [f64::NAN, f64::INFINITY, 5e-324, f64::MAX]; let whole = [1e6f32, 1e7, 1e16, 123456789.0]; let bits = a.x.to_bits(); let back = f64::from_bits(0x4009_21fb_5444_2d18);
    core::hint::black_box((&a, &b, &c, &f, &quad, &special, &odd, &whole, &bits, &back)); core::hint::black_box((&d, &r, &m));
    here!(); // STOP print a; print b; print c; print f; print quad; print quad.0; print quad.0[3]; print special; print odd; print whole; print bits; print/x bits; print back; print d; print r; print m; print a == b; print a.x; print b.x; print back * 2.0; print back as f32; print 1.0 / 3.0; print 1.5f32; print 1e10; print 0.1 + 0.2; print 10.0 % 3.0; print a.x as i32 + 1; print b.y as i8; print n as f32; print back > 3.0; whatis c; whatis f; whatis quad; ptype c; ptype quad; ptype a; print special[0] == special[0]; print odd[1]; print/f bits; print sizeof(quad); print sizeof(f); print f.re * 3.0; whatis f.re; print f.re as f64 + c.re; x/2f &special; x/1fg &back; print 2.0 * 3; print a.x * 2
    n + d as i32 + r as i32 + m as i32
}
