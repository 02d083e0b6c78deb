#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use core::num::{NonZeroU32, NonZeroU8, Wrapping};
#[derive(Clone, Copy, PartialEq)]
pub struct Fixed { raw: i128 }
impl Fixed {
    const ONE: i128 = 1 << 64;
    fn of(n: i64) -> Fixed { Fixed { raw: n as i128 * Fixed::ONE } }
    #[inline(never)]
    fn mul(self, other: Fixed) -> Option<Fixed> {
        let left = self.raw >> 32;
        let right = other.raw >> 32;
        let product = left.checked_mul(right);
        core::hint::black_box((&left, &right, &product));
        here!(); // STOP print left; print right; print product; print self; print self.raw; print other; print/x self.raw; print left as i64; whatis product; whatis left; ptype self; print left == right; print left > 0; bt 1; print sizeof(product); print self.raw as u64; print -left
        product.map(|raw| Fixed { raw })
    }
}
#[inline(never)]
fn power(base: u128, mut exponent: u32, modulus: u128) -> u128 {
    let mut result = 1u128; let mut square = base % modulus;
    while exponent > 0 {
        if exponent & 1 == 1 { result = result * square % modulus; }
        square = square * square % modulus;
        exponent >>= 1;
    }
    core::hint::black_box((&result, &square));
    here!(); // STOP print result; print square; print base; print modulus; print exponent; print/x result; whatis result; print result as u64; print result as u8; print result == 1; print result + 1; print result * 2; bt 1; print modulus - 1; print/x modulus
    result
}
#[inline(never)]
fn hash(bytes: &[u8]) -> u32 {
    let mut h = Wrapping(0x811c9dc5u32);
    for b in bytes { h ^= Wrapping(*b as u32); h *= Wrapping(0x01000193); }
    core::hint::black_box(&h);
    here!(); // STOP print h; print h.0; print/x h.0; print bytes; whatis h; ptype h; print h.0 >> 24; print h.0 & 0xff; print bytes.length; bt 1
    h.0
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let third = Fixed::of(n as i64); let product = third.mul(Fixed::of(-2)); let none = Fixed { raw: i128::MAX }.mul(Fixed { raw: i128::MIN });
    let p = power(7, 13, (1 << 61) - 1); let h = hash(b"wide");
    let (wrapped, over) = 250u8.overflowing_add(10); let saturated = i16::MIN.saturating_sub(5); let checked = 5u32.checked_sub(6); let rotated = 0x12345678u32.rotate_left(8); let swapped = 0x1234u16.swap_bytes(); let zeros = 40u64.leading_zeros(); let euclid = (-7i32).rem_euclid(3); let rest = -7i32 % n;
    let some = NonZeroU32::new(5); let zero = NonZeroU8::new(0); let sure = NonZeroU8::MAX;
    let limits = (u8::MAX, i8::MIN, u16::MAX, i16::MIN, u32::MAX, i32::MIN, u64::MAX, i64::MIN); let large = [u128::MAX, 1 << 100, 5]; let small = [i128::MIN, -1, 0];
    core::hint::black_box((&third, &product, &none, &wrapped, &over, &saturated, &checked, &rotated, &swapped)); core::hint::black_box((&zeros, &euclid, &some, &zero, &sure, &limits, &large, &small, &p, &rest));
    here!(); // STOP print third; print product; print none; print wrapped; print over; print saturated; print checked; print rotated; print/x rotated; print swapped; print/x swapped; print zeros; print euclid; print rest; print some; print zero; print sure; whatis some; ptype some; whatis zero; print limits; print limits.6; print limits.7; print -limits.7; print limits.0 + 1; print large; print large[1]; print small; print/x large; print/x small; print/d large; print p; print/o rotated; print/t wrapped; print/c wrapped; print -7 % 3; print -7 / 2; print 7u8 - 8u8; print limits.4 + 1; print limits.5 - 1; print 0xffffffffffffffff; print 18446744073709551615; print 340282366920938463463374607431768211455u128; print large[0] == large[1]; print small[0] < small[1]; print h; whatis limits; print sizeof(large)
    n + p as i32 + h as i32 + wrapped as i32 + zeros as i32 + euclid + rest
}
