#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, rc::{Rc, Weak}, vec::Vec};
use core::cell::{Cell, RefCell};
pub struct Node { value: i32, next: Option<Box<Node>> }
pub struct Leaf { id: u8, parent: RefCell<Weak<Leaf>>, children: RefCell<Vec<Rc<Leaf>>>, visits: Cell<u32> }
#[inline(never)] fn push(head: Option<Box<Node>>, value: i32) -> Option<Box<Node>> {
    here!(); // STOP print value; print head; bt; whatis value; whatis head; ptype head
    Some(Box::new(Node { value, next: head })) }
#[inline(never)] fn sum(mut at: &Option<Box<Node>>) -> i32 { let mut s = 0;
    while let Some(node) = at { s += node.value; at = &node.next;
        here!(); // STOP print s; print node; print node.value; print s == 3; print *at; whatis s
    } s }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut head = None; for i in 1..n { head = push(head, i); }
    let leaf = Rc::new(Leaf { id: 1, parent: RefCell::new(Weak::new()), children: RefCell::new(Vec::new()), visits: Cell::new(0) });
    let branch = Rc::new(Leaf { id: 2, parent: RefCell::new(Weak::new()), children: RefCell::new(alloc::vec![Rc::clone(&leaf)]), visits: Cell::new(5) });
    *leaf.parent.borrow_mut() = Rc::downgrade(&branch);
    let total = sum(&head); let end: Option<&Node> = None;
    core::hint::black_box((&head, &leaf, &branch, &total, &end));
    here!(); // STOP print head; print total; print end; print leaf; print branch; whatis leaf; whatis head; ptype head; ptype linked::Node; ptype linked::Leaf; ptype end; print total * 2
    total + leaf.visits.get() as i32 + branch.visits.get() as i32 + leaf.id as i32
}
