// A chain of calls of Rust, which crashes at its end.

pub enum Shape {
    Circle(f64),
    Rect { w: i32, h: i32 },
}

#[derive(Clone, Copy)]
pub enum Colour {
    Red = 3,
    Green = 300,
}

pub struct Point {
    x: i32,
    y: i32,
}

pub struct Counter<T> {
    count: T,
    name: &'static str,
}

pub trait Grow {
    fn grow(&mut self, by: u8) -> usize;
}

static mut NOWHERE: *mut usize = std::ptr::null_mut();

#[inline(never)]
fn crash(depth: usize, text: &str, letter: char, flag: bool) -> usize {
    unsafe { *std::ptr::read_volatile(std::ptr::addr_of!(NOWHERE)) = depth + text.len() };
    letter as usize + flag as usize
}

#[inline(never)]
fn numbers(a: i8, b: u16, c: i64, d: u128, e: f32, f: &i32) -> usize {
    crash(b as usize, "a text", 'Z', a < 0) + c as usize + d as usize + e as usize + *f as usize
}

#[inline(never)]
fn shapes(shape: &Shape, form: Shape, colour: Colour, point: Point, list: &[i32]) -> usize {
    let n = match shape {
        Shape::Circle(r) => *r as i32,
        Shape::Rect { w, h } => w * h,
    };
    let m = match form {
        Shape::Circle(r) => r as i32,
        Shape::Rect { w, h } => w + h,
    };
    numbers(-3, 500, -1, 1 << 70, 0.25, &n) + m as usize + colour as usize + (point.x + point.y) as usize + list.len()
}

impl Grow for Counter<usize> {
    #[inline(never)]
    fn grow(&mut self, by: u8) -> usize {
        self.count += by as usize;
        let colour = if by > 100 { Colour::Red } else { Colour::Green };
        shapes(&Shape::Circle(2.5), Shape::Rect { w: 1, h: 2 }, colour, Point { x: 3, y: 4 }, &[1, 2, 3]) + self.name.len()
    }
}

#[inline(never)]
fn apply<F: Fn(u8) -> usize>(f: F, by: u8) -> usize {
    f(by) + 1
}

fn main() {
    let start = std::env::args().count();
    let n = apply(|by| {
        let mut counter = Counter { count: start, name: "counter" };
        let grown: &mut dyn Grow = &mut counter;
        grown.grow(by) + 1
    }, 7);
    println!("{}", n);
}
