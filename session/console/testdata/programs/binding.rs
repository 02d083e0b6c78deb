#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
#[inline(never)]
fn masks(flags: u32, wide: i64, letter: char, ratio: f32) -> u32 {
    let low = flags & 4; let set = flags & 4 == 4;
    core::hint::black_box((&flags, &wide, &letter, &ratio, &low, &set));
    here!(); // STOP print flags & 4 == 4; print flags & 2 == 2; print flags | 1 == 5; print flags ^ 3 != 6; print wide & 3 > 1; print flags == 5 && wide & 1 == 1; print 1 << 2 & flags; print flags & 4 << 0 == low; print flags + 1 & 6 == 6; print (flags & 4) == 4; print set == (flags & 4 == 4); print 1 < 2 == true; print flags > 4 == set; whatis flags & 4 == 4; whatis 5; whatis -5; whatis 1_000; whatis 0x80; whatis 0o17; whatis 5000000000; whatis 1.5; whatis 2.0f32; whatis 5u8; whatis 'a'; whatis true; print 010; print 010u8; whatis 010_u16; print 09i32; print 0o17u8; print 0x10u8; print 0o17; print 007 + 1; print 08; print 97u8 as char; print flags as u8 as char; whatis flags as u8 as char; whatis wide as bool; print wide as bool; print 0 as bool; whatis letter as u32; whatis wide as f64; whatis flags as f32; print ratio as f64; print !flags; print !2.5; print !ratio; print !set; print letter == 'q'; print 'a'; print 'ü'; whatis char; whatis bool; whatis f64; whatis -(255); ptype 7; print 300u16 as char; bt 1
    low + set as u32
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let r = masks(n as u32 + 2, -5, 'q', 0.5); let half = 0.5f64;
    core::hint::black_box((&r, &half));
    here!(); // STOP print r; print r & 1 == 1; print half; whatis half * 2.0; whatis half * half; whatis r + 1
    r as i32
}
