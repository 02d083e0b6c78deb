#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};
pub mod config {
    pub const LIMITS: [u16; 3] = [10, 20, 30];
    pub static DEFAULT: Settings = Settings { retries: 3, name: "default", ratio: 0.5, flags: Some(7), range: (1, -1) };
    pub static mut CURRENT: Option<&'static Settings> = None;
    pub static TABLE: [Settings; 2] = [Settings { retries: 1, name: "a", ratio: 1.0, flags: None, range: (0, 0) }, DEFAULT_COPY];
    const DEFAULT_COPY: Settings = Settings { retries: 9, name: "copy", ratio: 0.25, flags: Some(0), range: (5, 6) };
    pub struct Settings { pub retries: u8, pub name: &'static str, pub ratio: f32, pub flags: Option<u32>, pub range: (i8, i8) }
    impl Settings {
        pub const SIZE: usize = core::mem::size_of::<Settings>();
        #[inline(never)]
        pub fn delay(&self, attempt: u8) -> u32 {
            static CALLS: super::AtomicU32 = super::AtomicU32::new(0);
            let calls = CALLS.fetch_add(1, super::Ordering::Relaxed) + 1;
            let base = LIMITS[(attempt % 3) as usize] as u32;
            core::hint::black_box((&calls, &base));
            here!(); // STOP print calls; print base; print self.name; print self.retries; print self.ratio; print self.flags; print self.range; print *self; print counters::config::DEFAULT; print counters::config::DEFAULT.name; print counters::config::CURRENT; print counters::config::TABLE[1]; print counters::config::TABLE[1].ratio; print attempt; whatis self; bt 1; print self.retries > attempt; print self.range.1; print base * calls; ptype self; print DEFAULT.retries; print CALLS
            base * calls * self.retries as u32
        }
    }
    pub mod inner {
        pub static DEPTH: i64 = -3;
        #[inline(never)]
        pub fn depth(by: i64) -> i64 {
            let total = DEPTH + by + super::super::TOTAL.load(super::super::Ordering::SeqCst);
            core::hint::black_box(&total);
            here!(); // STOP print total; print by; print counters::config::inner::DEPTH; print counters::TOTAL; print DEPTH; print counters::config::TABLE[0]; whatis counters::config::inner::DEPTH; whatis counters::TOTAL; ptype counters::config::TABLE; bt 1; print self::DEPTH; print super::DEFAULT; print ::counters::TOTAL; print total - by; print counters::config::inner::depth; print super::inner::DEPTH; info line counters::config::inner::depth
            total
        }
    }
}
static TOTAL: AtomicI64 = AtomicI64::new(40);
static MESSAGES: &[&str] = &["ok", "late", "lost"];
static GRID: [[i8; 2]; 2] = [[1, -1], [-1, 1]];
static LETTER: char = 'λ';
static UNIT: () = ();
static POINTER: &&u8 = &&5;
#[inline(never)]
fn classify(n: i32) -> &'static str {
    fn bucket(n: i32) -> usize {
        fn clamp(n: i32, high: i32) -> i32 { if n < 0 { 0 } else if n > high { high } else { n } }
        const WIDTH: i32 = 4;
        let at = clamp(n / WIDTH, MESSAGES.len() as i32 - 1);
        core::hint::black_box(&at);
        at as usize
    }
    let first = bucket(n); let message = MESSAGES[first];
    let closure = |k: usize| -> &'static str { let picked = MESSAGES[(first + k) % MESSAGES.len()]; core::hint::black_box(&picked);
        here!(); // STOP print picked; print k; print counters::MESSAGES; print counters::MESSAGES[2]; bt; whatis picked; print counters::GRID; print counters::GRID[1][0]; print counters::LETTER; print counters::UNIT; print counters::POINTER; print **counters::POINTER; whatis counters::POINTER; whatis counters::MESSAGES; whatis counters::GRID; print k + 1; print MESSAGES[0]; print counters::classify::bucket; up; print first; print message; print n
        picked };
    let other = closure(1);
    if n > 100 { message } else { other }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    unsafe { config::CURRENT = Some(&config::DEFAULT); }
    let wait = config::TABLE[0].delay(1) + config::DEFAULT.delay(n as u8);
    TOTAL.fetch_sub(n as i64, Ordering::SeqCst);
    let depth = config::inner::depth(n as i64); let text = classify(n); let size = config::Settings::SIZE; let current = unsafe { config::CURRENT };
    core::hint::black_box((&wait, &depth, &text, &size, &current, &UNIT, &LETTER, &GRID, &POINTER));
    here!(); // STOP print wait; print depth; print text; print size; print current; print counters::config::CURRENT; print &counters::config::DEFAULT; print *&counters::config::DEFAULT; print counters::config::DEFAULT.range.0; print counters::TOTAL; whatis counters::config::DEFAULT; whatis counters::config::CURRENT; ptype counters::config::DEFAULT; whatis current; print &counters::GRID; print counters::config::LIMITS; print counters::nosuch; print counters::config::nosuch; print LETTER; print/x counters::GRID; print/d counters::LETTER; print sizeof(counters::config::TABLE); print counters::config::TABLE[0].name.length; print size == 32; print counters::config::Settings::delay; whatis counters::config::Settings::delay; print counters::POINTER == counters::POINTER
    n + wait as i32 + depth as i32 + text.len() as i32 + size as i32
}
