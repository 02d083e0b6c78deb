#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{borrow::Cow, string::String, vec::Vec};
pub struct Token<'a> { text: &'a str, start: usize, kind: Kind }
#[derive(Clone, Copy, PartialEq)] pub enum Kind { Word, Number, Other(u8) }
#[inline(never)] fn token<'a>(text: &'a str, start: usize, end: usize) -> Token<'a> {
    let part = &text[start..end]; let first = part.as_bytes()[0];
    let kind = if first.is_ascii_digit() { Kind::Number } else if first.is_ascii_alphabetic() { Kind::Word } else { Kind::Other(first) };
    core::hint::black_box((&part, &first, &kind));
    here!(); // STOP print text; print part; print first; print kind; print start; print end; print end - start; whatis text; whatis part; whatis kind; ptype kind; bt; print first == 49; print/c first
    Token { text: part, start, kind } }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let line = "one 12 +"; let mut list = Vec::with_capacity(4); let mut at = 0usize;
    for (k, c) in line.bytes().enumerate() { if c == b' ' { list.push(token(line, at, k)); at = k + 1; } } list.push(token(line, at, line.len()));
    let owned = String::from("owned ü"); let empty = String::new(); let borrowed: Cow<str> = Cow::Borrowed("cow"); let raw = b"raw\x00\xff"; let bytes = [104u8, 105]; let long = "a long text that goes on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on until it ends after two hundred";
    core::hint::black_box((&list, &owned, &empty, &borrowed, &raw, &bytes, &long, &line, &at));
    here!(); // STOP print line; print list; print owned; print empty; print raw; print bytes; print long; print at; print list.len; whatis line; whatis owned; whatis raw; whatis list; whatis borrowed; ptype borrowed; ptype text::Token; print at + 1; print line.length; print "lit"; print at == 7; x/s line.data_ptr; x/2xb &bytes
    list.len() as i32 + n + list[0].start as i32 + list[1].text.len() as i32 + (list[2].kind == Kind::Word) as i32 + owned.len() as i32 + empty.len() as i32 + borrowed.len() as i32
}
