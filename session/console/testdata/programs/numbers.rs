#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
pub static mut COUNTER: u16 = 65535; pub static PI: f64 = 3.25; static TABLE: [i8; 6] = [-128, -1, 0, 1, 2, 127];
#[repr(C)] pub struct Plan { a: u8, b: u32, c: u16, d: [u8; 3] }
#[repr(u8)] #[derive(Clone, Copy)] pub enum Small { A = 1, B = 200, C }
#[repr(transparent)] pub struct Meters(f64);
#[inline(never)] fn mix(a: i8, b: u16, c: i64, d: f32, e: char, f: bool, g: usize, s: Small, m: Meters) -> f64 {
    here!(); // STOP print a; print b; print c; print d; print e; print f; print g; print s; print m; print a as u8; print b as i8; print c as f64; print d as i32; print e as u32; print f as u8; print s as i32; print m.0; print a + 1; print b + 1; print c * 2; print d * 2.0; print g / 3; print g % 3; print a < 0; print !f; print -a; print -c; print b >> 3; print b << 2; print b & 255; print b | 1; print b ^ 3; print/x a; print/x c; print/t b; print/o b; print/d e; print/c b; print/x d; print/u a; whatis a; whatis b; whatis d; whatis e; whatis f; whatis s; whatis m; whatis a as i64; ptype s; ptype m; print f && true; print f || false; print a == -5; print a != -5; print d > 1.0; bt
    a as f64 + b as f64 + c as f64 + d as f64 + e as u32 as f64 + f as u8 as f64 + g as f64 + s as u8 as f64 + m.0
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let layout = Plan { a: 1, b: 2, c: 3, d: [4, 5, 6] }; let unit = (); let nested = ((1u8, 2u16), [3u32; 2], (4i8,)); let big = [0u64, u64::MAX, 1 << 40]; let floats = [0.0f64, -0.0, 1e100, f64::INFINITY, f64::NAN]; let letters = ['a', '\n', 'é', '\u{1F600}'];
    let max = i128::MAX; let min = i64::MIN; let tiny = f32::MIN_POSITIVE; let flags = [true, false]; let reference = &layout.b; let raw = reference as *const u32; let small = [Small::A, Small::C];
    let r = mix(-5, 65000, -1 << 40, 1.5, 'x', true, 10, Small::B, Meters(2.5));
    core::hint::black_box((&layout, &unit, &nested, &big, &floats, &letters)); core::hint::black_box((&max, &min, &tiny, &flags, &reference, &raw, &small));
    here!(); // STOP print layout; print layout.d; print layout.d[1]; print nested; print nested.0; print nested.1; print nested.2; print big; print floats; print letters; print max; print min; print tiny; print flags; print *reference; print *raw; print small; print r; print numbers::COUNTER; print numbers::PI; print numbers::TABLE; print numbers::TABLE[0]; print/x layout; print/x big; print/d letters; print/x numbers::TABLE; ptype layout; ptype nested; ptype big; whatis nested; whatis big; whatis letters; whatis numbers::TABLE; whatis raw; print sizeof(layout); print &layout.c; print &big[1]; x/3xb &layout.d; x/2xg &big; print 1u8; print 300u16 + 1; print 0xff; print 0b101; print 0o17; print 1_000; print 1.5 + 1.5; print 10 / 4; print 10.0 / 4.0; print 7 % 3; print 1 == 1; print 2 > 3; print 5 as u8; print 'a' as u8; print true as i32; print numbers::COUNTER + 1; print numbers::TABLE[5] + 1; print (n + 1) * 2; print n = 9; print n; print n += 1; print n
    r as i32 + n
}
