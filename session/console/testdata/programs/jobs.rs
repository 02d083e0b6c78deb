#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{collections::BinaryHeap, vec, vec::Vec};
use core::cmp::{Ordering, Reverse};
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Job { priority: u8, id: u32 }
impl Ord for Job {
    #[inline(never)]
    fn cmp(&self, other: &Self) -> Ordering {
        let first = self.priority.cmp(&other.priority);
        let order = first.then(other.id.cmp(&self.id));
        core::hint::black_box((&first, &order));
        here!(); // STOP print first; print order; print self; print *self; print other; print other.id; print self.priority > other.priority; whatis order; ptype order; whatis self; bt 1; print self.id + other.id; ptype self
        order
    }
}
impl PartialOrd for Job { fn partial_cmp(&self, other: &Self) -> Option<Ordering> { Some(self.cmp(other)) } }
pub struct Queue<T, const N: usize> { items: [T; N], len: usize }
impl<T: Ord + Copy, const N: usize> Queue<T, N> {
    #[inline(never)]
    fn push(&mut self, item: T) -> Result<usize, T> {
        if self.len == N { return Err(item); }
        let mut at = self.len;
        self.items[at] = item;
        self.len += 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            core::hint::black_box(&parent);
            here!(); // STOP print at; print parent; print item; print self.items; print self.len; whatis self; whatis item; print self.items[0]; print at / 2; print at % 2; ptype item; bt 1; print sizeof(item)
            if self.items[parent] >= self.items[at] { break; }
            self.items.swap(parent, at);
            at = parent;
        }
        Ok(at)
    }
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let mut jobs: Queue<Job, 4> = Queue { items: [Job { priority: 0, id: 0 }; 4], len: 0 };
    let mut places = Vec::new();
    for (id, priority) in [3u8, 9, 1, 9, 5].into_iter().enumerate() { places.push(jobs.push(Job { priority, id: id as u32 })); }
    let mut library = BinaryHeap::from(vec![Reverse(4), Reverse(1), Reverse(n)]);
    let smallest = library.pop(); let peek = library.peek();
    let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];
    core::hint::black_box((&jobs, &places, &smallest, &peek, &orders));
    here!(); // STOP print jobs; print places; print smallest; print peek; print orders; print orders[2]; print jobs.items[0]; print jobs.items; print jobs.len; ptype jobs; whatis jobs; whatis smallest; whatis peek; ptype smallest; ptype jobs::Job; whatis library; print places[4]; whatis places; print sizeof(jobs); print jobs.len - 1; print core::cmp::Ordering::Less; print orders[0] == orders[1]; print orders == orders
    n + jobs.len as i32 + places.len() as i32 + library.len() as i32
}
