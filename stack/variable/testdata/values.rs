// Values of Rust's own types and of the standard library's.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::cell::{Cell, RefCell};

pub enum Shape { Empty, Circle(f64), Rect { w: i32, h: i32 }, Named(String) }
#[derive(Clone, Copy)]
pub enum Colour { Red = 3, Green = 300 }
pub struct Point { x: i32, y: i32 }
pub struct Unit;
pub struct Pair(u8, i64);
pub struct Generic<T> { item: T, list: Vec<T> }
pub union Both { whole: u32, half: u16 }

static mut NOWHERE: *mut usize = std::ptr::null_mut();

#[inline(never)]
fn last(text: String, slice: &str, numbers: Vec<i32>, some: Option<i32>, none: Option<i32>, boxed: Option<Box<i32>>, shape: Shape, list: &[Point], array: [u16; 3]) -> usize {
    let empty = Shape::Empty;
    let rect = Shape::Rect { w: 1, h: -2 };
    let named = Shape::Named(String::from("named"));
    let colour = Colour::Green;
    let red = Some(Colour::Red);
    let point = Point { x: 1, y: 2 };
    let unit = Unit;
    let pair = Pair(7, -8);
    let tuple = (1u8, "two", 3.5f32);
    let nothing = ();
    let generic = Generic { item: 1u64, list: vec![2] };
    let words = vec!["one", "two"];
    let texts = vec![String::from("a")];
    let nested: Vec<Vec<u8>> = vec![vec![1], vec![]];
    let result: Result<u8, String> = Ok(5);
    let error: Result<u8, String> = Err(String::from("wrong"));
    let reference = &point;
    let letter = 'é';
    let letters = ['a', '\'', '\n', '\0', '\u{7f}', '中'];
    let letter_reference = &letter;
    let no_items: [i32; 0] = [];
    let zero = b"a\0b\xff";
    let map = BTreeMap::from([(1u8, 'x')]);
    let hashed: HashMap<u8, u8> = HashMap::new();
    let deque = VecDeque::from([1u8, 2]);
    let unset = std::mem::MaybeUninit::new(7u16);
    let cow = std::borrow::Cow::Borrowed("cow");
    let nonzero = std::num::NonZeroU8::new(3);
    let mutable: &mut [u8] = &mut [1, 2];
    let many = vec![Point { x: 1, y: 2 }];
    let arc = Arc::new(Unit);
    let empty_text = String::new();
    let duration = std::time::Duration::from_millis(1500);
    let flag = true;
    let wide = 1u128 << 100;
    let small = -3i8;
    let boxed_point = Box::new(Point { x: 5, y: 6 });
    let rc = Rc::new(3);
    let cell = Cell::new(4);
    let refcell = RefCell::new(String::from("cell"));
    let option_ref: Option<&str> = Some("ref");
    let option_none: Option<&str> = None;
    let optional_text: Option<String> = None;
    let maybe: Option<Option<bool>> = Some(None);
    let both = Both { whole: 65537 };
    let function: fn(u8) -> u8 = double;
    let range = 1..5;
    let bytes = b"bytes";
    let float = f64::NAN;
    let pointer: *const Point = &point;
    let object: &dyn Fn(u8) -> u8 = &double;
    let ordering = 1.cmp(&2);
    unsafe { *std::ptr::read_volatile(std::ptr::addr_of!(NOWHERE)) = 1 };
    text.len() + slice.len() + numbers.len()
}

fn double(n: u8) -> u8 { n * 2 }

fn main() {
    last(String::from("text"), "slice", vec![1, 2, 3], Some(4), None, Some(Box::new(9)), Shape::Circle(2.5), &[Point { x: 3, y: 4 }], [1, 2, 3]);
    let _ = (Arc::new(1), HashMap::<u8, u8>::new(), BTreeMap::<u8, u8>::new(), VecDeque::<u8>::new());
}
