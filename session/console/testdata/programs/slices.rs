#![no_std]
#![crate_type = "lib"]
extern crate alloc;
use alloc::{boxed::Box, collections::{BTreeMap, VecDeque}, rc::Rc, string::String, sync::Arc, vec, vec::Vec};
use core::cell::{Cell, RefCell};
include!("support/support.rs");
pub mod geometry {
    pub static SCALE: i32 = 3;
    pub static mut COUNT: u64 = 7;
    pub const LIMIT: usize = 10;
    pub trait Area { fn area(&self) -> i32; }
    pub struct Square { pub side: i32 }
    impl Area for Square { fn area(&self) -> i32 {
        here!(); // STOP print self; print *self; print self.side; print slices::geometry::SCALE; print slices::geometry::COUNT; bt; up; info locals
        self.side * self.side } }
    pub struct Generic<T> { pub inner: T, pub count: usize }
    impl<T: Copy> Generic<T> { #[inline(never)] pub fn get(&self) -> T {
        here!(); // STOP print self; print *self; print self.inner; print self.count; ptype self; whatis self; bt
        self.inner } }
}
use geometry::{Area, Generic, Square};
#[inline(never)]
fn total(list: &[i32], text: &str, names: &[&str], shape: &dyn Area, f: &dyn Fn(i32) -> i32) -> i32 {
    let mut sum = 0;
    for x in list { sum += f(*x); }
    here!(); // STOP print list; print list[1]; print text; print names; print shape; print sum; whatis list; whatis text; whatis names; whatis shape; ptype list; ptype text; print list.length; print list.data_ptr; print *list.data_ptr; print sum + 1; print sum as i64
    sum + text.len() as i32 + names.len() as i32 + shape.area()
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let array = [1, 2, 3, n]; let matrix = [[1u8; 2]; 3]; let bytes = b"bytes"; let letters = ['a', 'b'];
    let vector = vec![1.5, 2.5]; let words: Vec<String> = vec![String::from("one"), String::from("two")]; let none: Vec<u8> = Vec::new();
    let text = String::from("owned"); let slice = &array[1..3]; let part = &text[1..];
    let boxed = Box::new(5i64); let list: Box<[u16]> = Box::new([7, 8]); let dynamic: Box<dyn Area> = Box::new(Square { side: 2 });
    let shared = Rc::new(6); let weak = Rc::downgrade(&shared); let atomic = Arc::new(8u8);
    let cell = Cell::new(9); let guarded = RefCell::new(10);
    let mut map = BTreeMap::new(); map.insert(1, "a"); map.insert(2, "b");
    let mut queue = VecDeque::new(); queue.push_back(1u16); queue.push_front(0);
    let generic = Generic { inner: n as u64, count: 2 };
    let closure = |x: i32| x + n; let function: fn(i32) -> i32 = double;
    let small = -1i8; let big = u128::MAX; let wide = i128::MIN; let float = 1.25f32; let yes = true; let letter = 'é'; let size = 5usize; let pointer = &array[0] as *const i32;
    let r = Square { side: 2 }.area() + generic.get() as i32 + total(&array, "hello", &["x", "y"], &Square { side: n }, &closure) + generic.get() as i32;
    here!(); // STOP print array; print array[1]; print matrix; print bytes; print letters; print vector; print words; print none; print text; print slice; print part; print boxed; print *boxed; print list; print shared; print atomic; print cell; print guarded; print map; print queue; print generic; print function; print small; print big; print wide; print float; print yes; print letter; print size; print pointer; print *pointer; ptype array; whatis array; whatis slice; whatis text; whatis boxed; whatis shared; whatis vector; whatis generic; ptype generic; whatis function; whatis big; whatis small; whatis letter; whatis yes; print/x small; print/x size; print/t size; print/d letter; print/x array; print array[5]; print small + 1; print float * 2.0; print float * 2; print size + 1; print r; print &r; print *&r; whatis &r; print slices::geometry::SCALE; print array == array; print yes && false; print !yes; print ~1; print r = 5; print r; print r += 1; print sizeof(array); print vector.len; print slices::double; whatis slices::double; list slices::double; info line slices::double; print array[1..3]; print &array[1]; print text.vec.len; print generic.inner + 1; print weak; x/2dw &array; x/s bytes
    drop((matrix, letters, vector, words, none, slice.len(), part.len(), list, dynamic, weak, atomic, cell, guarded, map));
    r + function(1) + *boxed as i32 + *shared + small as i32 + big as i32 + wide as i32 + float as i32 + yes as i32 + letter as i32 + size as i32 + bytes.len() as i32 + unsafe { *pointer }
}
#[inline(never)] fn double(x: i32) -> i32 { x * geometry::SCALE }
