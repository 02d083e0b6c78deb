#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::{boxed::Box, rc::{Rc, Weak}, sync::Arc, vec, vec::Vec};
use core::{cell::{Cell, OnceCell, Ref, RefCell, UnsafeCell}, sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering}};
pub struct Topic { name: &'static str, readers: RefCell<Vec<Weak<Reader>>>, sent: Cell<u32> }
pub struct Reader { id: u8, seen: RefCell<Vec<i32>>, topic: RefCell<Option<Rc<Topic>>> }
pub struct Shared { hits: AtomicU32, open: AtomicBool, total: AtomicUsize }
impl Topic {
    #[inline(never)]
    fn send(self: &Rc<Self>, message: i32) -> usize {
        let mut delivered = 0;
        for weak in self.readers.borrow().iter() {
            if let Some(reader) = weak.upgrade() {
                reader.seen.borrow_mut().push(message);
                delivered += 1;
                core::hint::black_box((&reader, &delivered));
                here!(); // STOP print delivered; print message; print reader.id; whatis reader; whatis weak; whatis self; bt 1; print message == 5; print delivered + 1
                core::hint::black_box(());
            }
        }
        self.sent.set(self.sent.get() + 1);
        delivered
    }
}
#[inline(never)]
fn tally(counter: &Arc<Shared>, by: &Cell<i32>, list: Ref<Vec<i32>>) -> u32 {
    let before = counter.hits.fetch_add(by.get() as u32, Ordering::SeqCst);
    counter.total.store(list.len(), Ordering::Relaxed);
    by.set(by.get() * 2);
    core::hint::black_box(&before);
    here!(); // STOP print before; print by; print *by; whatis counter; whatis by; whatis list; ptype by; bt 1; print before as i32 - 1; print counter
    before
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let topic = Rc::new(Topic { name: "news", readers: RefCell::new(vec![]), sent: Cell::new(0) });
    let readers: Vec<Rc<Reader>> = (0..2).map(|id| Rc::new(Reader { id, seen: RefCell::new(vec![]), topic: RefCell::new(None) })).collect();
    for r in &readers { topic.readers.borrow_mut().push(Rc::downgrade(r)); }
    *readers[0].topic.borrow_mut() = Some(Rc::clone(&topic));
    let delivered = topic.send(5);
    let counter = Arc::new(Shared { hits: AtomicU32::new(1), open: AtomicBool::new(true), total: AtomicUsize::new(0) }); let other = Arc::clone(&counter);
    let step = Cell::new(n); let before = tally(&counter, &step, readers[0].seen.borrow());
    let locked = RefCell::new(vec![1u8, 2]); let guard = locked.borrow_mut(); let once: OnceCell<u32> = OnceCell::new(); let unsafe_cell = UnsafeCell::new(4u8);
    let text: Rc<[char]> = Rc::new(['s', 'h']); let list: Arc<[u16]> = Arc::new([7u16, 8]); let boxed: Rc<Box<i64>> = Rc::new(Box::new(-3)); let dangling: Weak<u8> = Weak::new(); let pair = Rc::new((1u8, 'p')); let optional: Option<Rc<i32>> = Some(Rc::new(6)); let cells = [Cell::new(1i8), Cell::new(-1)]; let dynamic: Rc<dyn Fn(i32) -> i32> = Rc::new(move |x| x + n);
    core::hint::black_box((&topic, &readers, &delivered, &counter, &step, &before, &guard, &once, &unsafe_cell, &text)); core::hint::black_box((&list, &boxed, &dangling, &pair, &optional, &cells, &dynamic, &other));
    here!(); // STOP print delivered; print topic; print readers; print counter; print step; print before; print once; print unsafe_cell; print boxed; print dangling; print pair; print optional; print cells; print cells[1]; whatis topic; whatis readers; whatis guard; whatis text; whatis list; whatis once; whatis dangling; whatis pair; whatis optional; whatis cells; whatis dynamic; ptype shared::Topic; ptype shared::Shared; ptype step; print n + 1; print locked; print sizeof(locked); print sizeof(topic)
    n + delivered as i32 + before as i32 + step.get() + text.len() as i32 + list.len() as i32 + dynamic(1) + guard.len() as i32
}
