#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, string::String, vec::Vec};
#[derive(Clone, Copy, PartialEq)]
pub enum Key { Char(char), Function(u8), Arrow { dx: i8, dy: i8 }, Escape }
pub enum Event { Press(Key), Release(Key), Mouse { at: (u16, u16), button: Option<Button> }, Paste(String), Batch(Vec<Event>) }
#[derive(Clone, Copy, PartialEq)]
pub enum Button { Left = 1, Right = 2, Middle = 4 }
#[inline(never)]
fn describe(event: &Event) -> u32 {
    match event {
        Event::Press(key @ Key::Char('a'..='f')) | Event::Release(key @ Key::Char(_)) => {
            core::hint::black_box(&key);
            here!(); // STOP print key; print *key; print event; print *event; whatis key; whatis event; ptype key; bt 1; print *key == *key
            1
        }
        Event::Press(Key::Arrow { dx, dy: down }) => {
            let sum = *dx as i32 + *down as i32;
            core::hint::black_box((&dx, &down, &sum));
            here!(); // STOP print dx; print *dx; print down; print *down; print sum; whatis dx; print *dx + *down; print *dx == -1; print *event
            2
        }
        Event::Mouse { at: (x, 0..=9), button: Some(b @ (Button::Left | Button::Middle)) } => *x as u32 + *b as u32,
        Event::Mouse { at, .. } => at.0 as u32 + at.1 as u32,
        Event::Batch(list) => list.iter().map(describe).sum(),
        Event::Paste(text) if text.len() > 2 => text.len() as u32,
        _ => 0,
    }
}
#[inline(never)]
fn ends(list: &[i32]) -> (i32, usize) {
    match list {
        [] => (0, 0),
        [only] => (*only, 1),
        [first, middle @ .., last] => {
            let span = last - first;
            core::hint::black_box((&first, &middle, &last, &span));
            here!(); // STOP print first; print *first; print middle; print *last; print span; print list; whatis middle; whatis first; print middle[0]; print *first + *last; print middle.length; bt 1; print span == 8
            (span, middle.len())
        }
    }
}
#[inline(never)]
fn unpack(pair: Result<(Option<i32>, Box<i32>), &str>) -> i32 {
    let Ok((Some(value), boxed)) = pair else { return -1 };
    let [low, high] = (value as u16).to_be_bytes(); let (a, .., z) = (1, 2u8, 'c', 4i64); let ref held = boxed; let &inner = held.as_ref(); let Key::Function(number) = Key::Function(5) else { return -2 };
    core::hint::black_box((&low, &high, &a, &z, &held, &inner, &number));
    here!(); // STOP print value; print boxed; print *boxed; print low; print high; print a; print z; print held; print **held; print inner; print number; whatis held; whatis z; whatis number; bt 1; print a as i64 + z; print inner + value
    value + inner + low as i32 + high as i32 + a + z as i32 + number as i32
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let events = Vec::from([Event::Press(Key::Char('c')), Event::Press(Key::Arrow { dx: -1, dy: n as i8 }), Event::Mouse { at: (7, 8), button: Some(Button::Middle) }, Event::Mouse { at: (1, 99), button: None }, Event::Paste(String::from("clip")), Event::Release(Key::Escape), Event::Press(Key::Function(12))]);
    let mut total = 0; for e in &events { total += describe(e); }
    let batch = Event::Batch(events); let deep = describe(&batch);
    let e = ends(&[1, 5, n, 9]); let u = unpack(Ok((Some(258), Box::new(n)))); let keys = (Key::Char('ü'), Key::Escape, Key::Function(1)); let button = Button::Middle; let maybe = Some(Button::Right); let no: Option<Button> = None; let twice = Some(Some(Key::Escape)); let (x, y); (x, y) = (n, u);
    core::hint::black_box((&batch, &total, &deep, &e, &u, &keys, &button, &maybe, &no, &twice)); core::hint::black_box((&x, &y));
    here!(); // STOP print batch; print total; print deep; print e; print u; print keys; print keys.0; print keys.0.0; print keys.2.0; print button; print maybe; print no; print twice; print x; print y; ptype batch; ptype keys; whatis keys; ptype button; ptype patterns::Key; whatis batch; whatis maybe; print button as i32; print button == patterns::Button::Middle; print sizeof(batch); print sizeof(keys); print e.0; print e.1 + 1; print keys.1 == keys.1
    n + total as i32 + deep as i32 + e.0 + u + x + y
}
