// Values with a layout that the compiler of Rust chooses: enums, slices, tuples.
#![allow(dead_code)]

pub enum Shape {
    Circle(f64),
    Rect { w: i32, h: i32 },
    Empty,
}

pub enum Only {
    One(i32),
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

pub struct Pair(i32, u8);

pub struct Nothing;

#[inline(never)]
fn take(
    shape: &Shape,
    form: Shape,
    some: Option<i32>,
    boxed: Option<Box<i32>>,
    text: &str,
    slice: &[i32],
    point: Point,
    pair: Pair,
    letter: char,
    flag: bool,
    tuple: (i32, bool),
    only: Only,
    colour: Colour,
    array: [i32; 3],
    nested: Option<Option<u8>>,
) -> i32 {
    let n = match shape { // STOP
        Shape::Circle(r) => *r as i32,
        Shape::Rect { w, h } => w * h,
        Shape::Empty => 0,
    };
    let m = match form {
        Shape::Rect { w, .. } => w,
        _ => 1,
    };
    let Only::One(o) = only;
    n + m + o + some.unwrap_or(0) + *boxed.unwrap_or(Box::new(0)) + text.len() as i32 + slice[0]
        + point.x + point.y + pair.0 + pair.1 as i32 + letter as i32 + flag as i32
        + tuple.0 + tuple.1 as i32 + colour as i32 + array[1] + nested.unwrap_or(None).unwrap_or(1) as i32
}

fn main() {
    let mut n = take(
        &Shape::Circle(1.5), Shape::Rect { w: 3, h: 4 }, Some(5), Some(Box::new(9)), "abc", &[1, 2, 3],
        Point { x: 1, y: -2 }, Pair(3, 200), 'x', true, (7, true), Only::One(2), Colour::Green, [4, 5, 6], Some(None),
    );
    n += take(
        &Shape::Empty, Shape::Empty, None, None, "", &[7, 7], Point { x: 0, y: 0 }, Pair(-1, 0), 'y', false,
        (0, false), Only::One(-2), Colour::Red, [0, 0, 0], Some(Some(3)),
    );
    std::process::exit(if n == 0 { 1 } else { 0 });
}
