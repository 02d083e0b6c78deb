#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::vec::Vec;
#[derive(Clone, Copy, PartialEq)]
pub struct Point { x: i16, y: i16 }
pub struct View<'a, T> { items: &'a [T], selected: &'a T, parent: Option<&'a View<'a, T>> }
pub struct Split<'a> { left: &'a mut [i32], right: &'a mut [i32] }
#[inline(never)]
fn deepest(r: &&&i32, m: &mut &mut i32) -> i32 {
    let one: &i32 = **r;
    **m += *one;
    core::hint::black_box((&one, &m));
    here!(); // STOP print ***r; print **m; print *one; print one; whatis r; whatis *r; whatis **r; whatis ***r; whatis m; ptype m; print ***r + **m; print *one == 3; bt 1; print **r == one
    **m
}
#[inline(never)]
fn centre<'a>(points: &'a [Point], view: &View<'a, Point>) -> &'a Point {
    let mut best = &points[0];
    for p in points {
        let (dx, dy) = (p.x - view.selected.x, p.y - view.selected.y);
        if dx * dx + dy * dy < 3 { best = p; }
    }
    core::hint::black_box(&best);
    here!(); // STOP print points; print points[1]; print points[1].x; print best; print *best; print best.y; print view.items; print view.selected; print view.selected.x; print view.parent; print points.length; whatis points; whatis view; whatis best; ptype view; ptype best; print points[0] == *best; print &points[1]; bt 1; print view.items[2].y - best.x; print points.data_ptr.x; print *points.data_ptr
    best
}
#[inline(never)]
fn rotate(split: &mut Split, by: usize) -> i32 {
    split.left.rotate_left(by);
    split.right[0] = split.left[0];
    let bytes = "héllo".as_bytes();
    let tail = &bytes[bytes.len() - 2..];
    core::hint::black_box((&bytes, &tail));
    here!(); // STOP print split; print split.left; print split.right; print split.left[0]; print bytes; print tail; print tail[1]; print by; print bytes.length; whatis split.left; whatis bytes; whatis split; ptype split; bt 1; print/x bytes; print/c tail[0]; print split.left[0] == split.right[0]
    split.left.len() as i32 + bytes.len() as i32 + tail.len() as i32
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut value = 4; let r1 = &n; let r2 = &r1;
    let d = { let mut m = &mut value; deepest(&r2, &mut m) };
    let points = [Point { x: 0, y: 5 }, Point { x: 2, y: 2 }, Point { x: -1, y: n as i16 }];
    let outer = View { items: &points[..1], selected: &points[0], parent: None };
    let view = View { items: &points, selected: &points[1], parent: Some(&outer) };
    let best = *centre(&points[1..], &view);
    let mut list = [1, 2, 3, 4, 5]; let total = { let (left, right) = list.split_at_mut(3); rotate(&mut Split { left, right }, 1) };
    let chunks: Vec<&[i32]> = list.chunks(2).collect(); let windows = list.windows(2).filter(|w| w[0] < w[1]).count(); let empty: &[u64] = &[]; let nested: &[&[u8]] = &[&[1, 2], &[3]]; let pair: (&str, &[char]) = ("key", &['a', 'z']); let array: &[i32; 5] = &list; let strings: &[&str] = &["x", "", "zz"];
    core::hint::black_box((&d, &view, &best, &chunks, &windows, &empty, &nested, &pair, &array, &strings)); core::hint::black_box((&r2, &value, &total));
    here!(); // STOP print d; print value; print *r1; print **r2; print points; print view; print view.parent; print best; print list; print chunks; print windows; print empty; print nested; print nested[0]; print nested[0][1]; print pair; print pair.0; print pair.1; print pair.1[1]; print array; print *array; print strings; print strings[2]; print strings[1]; whatis r2; whatis nested; whatis pair; whatis array; whatis strings; whatis chunks; ptype view; print view.items; print view.items[1].x; print list[1..3]; print points[..2]; print list[3..]; print points[1..2]; print strings[0] == strings[0]; print best == points[1]; print total; print &value; print &&value; print *&*&value; print sizeof(view); print pair.1.length
    n + d + best.x as i32 + total + windows as i32 + chunks.len() as i32
}
