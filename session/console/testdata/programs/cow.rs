#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{borrow::{Cow, ToOwned}, boxed::Box, rc::Rc, string::String, sync::Arc, vec::Vec};
#[derive(Clone)]
pub struct Field<'a> { name: Cow<'a, str>, bytes: Cow<'a, [u8]>, tags: &'a [&'static str] }
#[inline(never)]
fn escape(text: &str) -> Cow<'_, str> {
    let Some(at) = text.bytes().position(|b| b == b'<') else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 32);
    let (head, tail) = text.split_at(at);
    out.push_str(head);
    for c in tail.chars() { if c == '<' { out.push_str("&lt;"); } else { out.push(c); } }
    core::hint::black_box((&head, &tail, &out, &at));
    here!(); // STOP print head; print tail; print out; print at; print text; print out.vec.len; print head.length + tail.length; whatis head; whatis out; whatis text; bt 1; print *tail.data_ptr; print/c *tail.data_ptr; print text[1..3]
    Cow::Owned(out)
}
#[inline(never)]
fn absolute(list: &mut Cow<[i32]>) -> usize {
    let mut changed = 0;
    for k in 0..list.len() {
        if list[k] < 0 { let value = -list[k]; list.to_mut()[k] = value; changed += 1; }
    }
    core::hint::black_box((&list, &changed));
    here!(); // STOP print changed; print list; print *list; whatis list; ptype list; bt 1; print changed * 2
    changed
}
#[inline(never)]
fn title(text: &mut String, word: &str) -> char {
    let start = text.len();
    let mut letters = word.chars();
    let first = letters.next().map_or('?', |c| c.to_ascii_uppercase());
    text.push(first);
    text.push_str(letters.as_str());
    let bytes = text.as_bytes();
    core::hint::black_box((&start, &first, &bytes));
    here!(); // STOP print text; print *text; print word; print start; print first; print bytes; print bytes[start]; print text.vec.len; print bytes.length; whatis text; whatis first; whatis bytes; print first == 'W'; print first as u32; print/x first; bt 1; ptype first
    first
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let plain = escape("plain"); let escaped = escape("a<b<ü");
    let numbers = [1, -2, n]; let mut list = Cow::Borrowed(&numbers[..]); let changed = absolute(&mut list);
    let mut text = String::with_capacity(20); text.push_str("hello "); let first = title(&mut text, "world");
    let field = Field { name: Cow::Borrowed("id"), bytes: Cow::Owned([1u8, 2].to_vec()), tags: &["k", "v"] }; let copy = Field { name: Cow::Owned(field.name.clone().into_owned()), ..field.clone() };
    let boxed: Box<str> = Box::from("box"); let shared: Rc<[u8]> = Rc::new(*b"rc"); let atomic: Arc<[i64]> = Arc::new([n as i64, 5]); let slice: Box<[char]> = Box::from(['s', 'l']); let owned: Vec<String> = ["p", "q"].iter().map(|s| s.to_string_()).collect(); let lines: Vec<&str> = Vec::from(["one", "two\ttab", "\"q\"", "back\\slash", "\u{1F600}", "nul\0", "\u{7f}\u{1}"]); let letter = ['\t', '\'', '"', '\\', '\u{1F600}', '\0', 'ÿ']; let bytes: [&[u8]; 2] = [b"\xff\x00", b"ok"]; let empty: (&str, String, Box<str>) = ("", String::new(), Box::from("")); let option: Option<Cow<str>> = Some(Cow::Borrowed("opt")); let none: Option<String> = None; let long: [u8; 210] = [b'x'; 210];
    core::hint::black_box((&plain, &escaped, &list, &changed, &text, &first, &field, &copy, &boxed, &shared)); core::hint::black_box((&atomic, &slice, &owned, &lines, &letter, &bytes, &empty, &option, &none, &long));
    here!(); // STOP print plain; print escaped; print list; print changed; print text; print first; print field; print field.name; print copy; print field.tags; print boxed; print slice; print owned; print owned[0]; print lines; print lines[1]; print letter; print letter[4]; print bytes; print bytes[0]; print empty; print option; print none; print long; whatis plain; whatis list; whatis boxed; whatis shared; whatis atomic; whatis field; whatis option; ptype field; ptype plain; print '\u{e9}'; print "é"; print "a\tb"; print b"raw"; print b'r'; print '\''; print 'a' as u8; print 'a' == letter[0]; print/d letter; print/x letter[6]; print sizeof(plain); print sizeof(none); print field.tags[1]; print text.vec.len - 1
    n + plain.len() as i32 + escaped.len() as i32 + changed as i32 + first as i32 + copy.name.len() as i32
}
trait ToStringWithoutFormatting { fn to_string_(&self) -> String; }
impl ToStringWithoutFormatting for &str { fn to_string_(&self) -> String { (*self).to_owned() } }
