#![no_std]
#![crate_type = "lib"]
extern crate alloc;
use alloc::{boxed::Box, string::String, vec, vec::Vec};
include!("support/support.rs");
#[derive(Clone)]
pub enum Shape { Circle(f64), Rect { w: f64, h: f64 }, Empty }
#[derive(Clone, Copy, PartialEq)]
pub enum Color { Red, Green = 5, Blue }
pub enum Tree { Leaf, Node(Box<Tree>, i32, Box<Tree>) }
pub struct Point { x: i32, y: i32 }
pub struct Pair(i32, u8);
pub struct Unit;
pub union Word { all: u32, bytes: [u8; 4] }
fn sum(t: &Tree) -> i32 { match t { Tree::Leaf => 0, Tree::Node(a, n, b) => sum(a) + n + sum(b) } }
#[inline(never)]
fn area(s: &Shape, c: Color, p: Point) -> f64 {
    here!(); // STOP print s; print *s; print c; print p; print p.x; print &p; ptype s; ptype *s; ptype c; whatis c; whatis s; whatis *s; ptype p; print p.x + 1; bt; up; print c as i32; ptype Shape; ptype enums::Shape; ptype enums::Point; whatis enums::Color; print enums::Color::Green; ptype enums::Color
    match s { Shape::Circle(r) => r * r * 3.0, Shape::Rect { w, h } => w * h + c as i32 as f64, Shape::Empty => p.x as f64 }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let shapes = [Shape::Circle(1.5), Shape::Empty]; let rect = Shape::Rect { w: 2.0, h: n as f64 };
    let some = Some(n); let none: Option<i32> = None;
    let reference: Option<&i32> = Some(&n); let boxed = Some(Box::new(7)); let nothing: Option<Box<i32>> = None;
    let good: Result<i32, String> = Ok(3); let bad: Result<i32, String> = Err(String::from("bad"));
    let nested: Option<Option<u8>> = Some(None); let text: Option<&str> = Some("text"); let flag = Some(true); let letter: Option<char> = Some('x');
    let tree = Tree::Node(Box::new(Tree::Leaf), 5, Box::new(Tree::Node(Box::new(Tree::Leaf), 6, Box::new(Tree::Leaf))));
    let color = Color::Blue; let pair = Pair(1, 2); let unit = Unit; let empty = (); let tuple = (1u8, -2i64, 'c', "str");
    let word = Word { all: 0x41424344 }; let point = Point { x: 1, y: 2 };
    let list: Vec<Shape> = vec![Shape::Circle(0.5), Shape::Empty];
    let total = area(&rect, color, Point { x: 3, y: 4 }) + area(&shapes[0], Color::Red, Point { x: 3, y: 4 });
    core::hint::black_box((&shapes, &rect, &some, &none, &reference, &boxed, &nothing, &good, &bad, &nested)); core::hint::black_box((&text, &flag, &letter, &tree, &color, &pair, &unit, &empty, &tuple, &word, &point, &list));
    here!(); // STOP print rect; ptype rect; print shapes; print shapes[0]; print shapes[1]; print some; print none; print reference; print boxed; print nothing; print good; print bad; print nested; print text; print flag; print letter; print tree; print color; print pair; print pair.0; print unit; print empty; print tuple; print tuple.1; print word; print point; print point.x; print list; print total; ptype some; ptype reference; ptype good; ptype tree; ptype color; ptype pair; ptype unit; ptype tuple; ptype word; ptype point; ptype shapes; whatis some; whatis none; whatis good; whatis tuple; whatis shapes; whatis shapes[0]; whatis pair; print sizeof(point); print n + 1; print n == 3; print n > 3; print total * 2.0; print &point; print &shapes; print &point.y; print *&point; print point.nosuch; print nosuch; print color == enums::Color::Blue; print 5; print 5u8; print 1.5; print true; print 'x'; print "text"; print -n; print !flag; print n as u8; print 7 / 2; print 7 % 4; print 1 << 3; print 6 & 3; print 6 | 1; print (1, 2); print tuple.0 + 1; print enums::run; print sum; print enums::sum; whatis enums::sum; ptype Point; print list.len; print $1
    let r = total as i32 + sum(&tree) + some.unwrap() + list.len() as i32 + pair.0 + point.x + (unsafe { word.all } & 1) as i32;
    drop((none, reference, boxed, nothing, good, bad, nested, text, flag, letter, unit, empty, tuple, pair.1, point.y));
    r
}
