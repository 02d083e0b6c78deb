#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
#[repr(C, packed)] pub struct Packed { kind: u8, length: u32, tail: u16 }
#[repr(C)] pub union Bits { f: f32, u: u32, b: [u8; 4] }
#[repr(i16)] #[derive(Clone, Copy)] pub enum Signed { Low = -300, Zero = 0, High = 300 }
#[derive(Clone, Copy)] pub struct Mask(u32);
impl core::ops::BitOr for Mask { type Output = Mask; fn bitor(self, o: Mask) -> Mask { Mask(self.0 | o.0) } }
static mut RING: [(u8, i16); 3] = [(1, -1), (2, -2), (3, -3)]; static EMPTY: [u8; 0] = []; static WORDS: [&str; 2] = ["left", "right"];
#[inline(never)] fn pack(kind: u8, length: u32, s: Signed, m: Mask, window: &mut [u32]) -> Packed {
    window[0] |= m.0; let p = Packed { kind, length: length.rotate_left(4), tail: !0 }; core::hint::black_box((&p, &m));
    here!(); // STOP print p; print p.kind; print p.tail; print kind; print length; print s; print m; print m.0; print window; print window[0]; print length << 4; print length >> 2; print length & 0xf0 | 3; print length ^ length; print !kind; print kind as i8; print s as i32; print/x p; print/t kind; print/x length; whatis p; whatis m; whatis window; ptype p; ptype s; ptype m; ptype window; bt; print window.length; print sizeof(p)
    p }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut window = [1u32, 2, 3, 4]; let bits = Bits { f: 1.0 }; let mask = Mask(8) | Mask(1);
    let p = pack(7, n as u32 + 0x1000, Signed::Low, mask, &mut window[1..3]);
    let pairs = [(1u8, "one"), (2, "two")]; let table = [[1i16, -1], [2, -2], [3, -3]]; let shifted = (n as i64) << 40; let wrapped = 250u8.wrapping_add(n as u8 * 3); let chars = ('a', 'ß'); let signed = [Signed::High, Signed::Zero];
    core::hint::black_box((&window, &bits, &mask, &p, &pairs, &table)); core::hint::black_box((&shifted, &wrapped, &chars, &signed));
    here!(); // STOP print window; print bits; print bits.u; print bits.f; print bits.b; print mask; print p; print p.length; print pairs; print pairs[1]; print pairs[1].0; print pairs[1].1; print table; print table[1]; print table[1][0]; print shifted; print wrapped; print chars; print chars.1; print signed; print bits::RING; print bits::RING[1]; print bits::RING[1].1; print bits::EMPTY; print bits::WORDS; print bits::WORDS[0]; print/x window; print/x table; print/x shifted; print/t mask.0; ptype bits; ptype pairs; ptype table; ptype chars; whatis pairs; whatis table; whatis bits::RING; whatis signed; print table[0][1] + 1; print shifted >> 38; print &window[1]; print &table; x/4xw &window; print window[3] * 2; print window[1] == 11; print -table[2][0]
    (unsafe { bits.u } >> 24) as i32 + wrapped as i32 + p.kind as i32 + window[1] as i32 + unsafe { RING[0].0 } as i32 + EMPTY.len() as i32 + WORDS.len() as i32
}
