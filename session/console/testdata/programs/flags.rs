#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use core::ops::{BitAnd, BitOr, BitOrAssign, Not};
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Mode(u16);
impl Mode {
    pub const READ: Mode = Mode(1 << 2);
    pub const WRITE: Mode = Mode(1 << 1);
    pub const EXEC: Mode = Mode(1);
    pub const ALL: Mode = Mode(7);
    fn contains(self, other: Mode) -> bool { self.0 & other.0 == other.0 }
    #[inline(never)]
    fn text(self, out: &mut [u8; 3]) -> &str {
        for (k, (flag, letter)) in [(Mode::READ, b'r'), (Mode::WRITE, b'w'), (Mode::EXEC, b'x')].into_iter().enumerate() {
            out[k] = if self.contains(flag) { letter } else { b'-' };
        }
        core::hint::black_box(&out);
        here!(); // STOP print self; print self.0; print out; print *out; print out[0]; print/t self.0; print self.0 & 4; print self.0 | 2; print self.0 ^ 7; print !self.0; print self.0 << 3; print self.0 >> 1; whatis self; ptype self; whatis out; bt 1; print/c out[1]; print (self.0 & 1) == 1
        unsafe { core::str::from_utf8_unchecked(&out[..]) }
    }
}
impl BitOr for Mode { type Output = Mode; fn bitor(self, o: Mode) -> Mode { Mode(self.0 | o.0) } }
impl BitAnd for Mode { type Output = Mode; fn bitand(self, o: Mode) -> Mode { Mode(self.0 & o.0) } }
impl Not for Mode { type Output = Mode; fn not(self) -> Mode { Mode(!self.0 & Mode::ALL.0) } }
impl BitOrAssign for Mode { fn bitor_assign(&mut self, o: Mode) { self.0 |= o.0; } }
#[derive(Clone, Copy)]
#[repr(i8)]
pub enum Level { Low = -3, Middle, High = 100 }
#[repr(C)]
pub struct Packed { a: u8, b: u32, c: u16 }
#[repr(C, packed)]
pub struct Tight { a: u8, b: u32, c: u16 }
#[repr(align(16))]
pub struct Aligned { a: u8 }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut mode = Mode::READ | Mode::EXEC;
    let mut buffer = [0u8; 3];
    let text = mode.text(&mut buffer);
    let rest = !mode;
    let common = rest & Mode::ALL;
    let length = text.len();
    core::hint::black_box((&mode, &rest, &common, &text));
    here!(); // STOP print mode; print rest; print common; print text; print mode.0; print mode.0 | rest.0; print/x mode.0; print/t mode; print mode.0 == 5; print mode == rest; whatis mode; print buffer; print length
    mode |= Mode::WRITE;
    let level = Level::Low; let levels = [Level::Middle, Level::High, level];
    let packed = Packed { a: 1, b: 0x01020304, c: n as u16 }; let tight = Tight { a: 1, b: 0x01020304, c: n as u16 }; let aligned = Aligned { a: 9 };
    let mask = 0xff00u64; let bits = [1u32 << 31, u32::MAX, 0];
    core::hint::black_box((&mode, &level, &levels, &packed, &tight, &aligned, &mask, &bits));
    here!(); // STOP print mode; print level; print levels; print level as i8; print levels[1] as i32; print packed; print tight; print aligned; print sizeof(packed); print sizeof(tight); print sizeof(aligned); print tight.b; print packed.b; print/x packed.b; print mask; print/x mask; print mask >> 8; print bits; print/x bits; print/t bits[0]; ptype tight; ptype aligned; ptype level; whatis levels; x/8xb &packed; x/2xw &bits; print &tight.c; print flags::Level::High; print flags::Level::Low as i8; print 0b101; print 0o17; print 0xff; print 1_000; print -5 >> 1; print 5 - 7u8; print 255u8 + 1; print !0u8; print mask & !0xf000; ptype flags::Mode
    n + length as i32 + levels.len() as i32 + (mask >> 15) as i32 + packed.b as i32 + tight.c as i32 + aligned.a as i32 + packed.a as i32 + packed.c as i32 + tight.a as i32
}
