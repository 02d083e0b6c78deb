#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
use alloc::boxed::Box;
use core::{mem::{self, MaybeUninit, ManuallyDrop}, ptr::{self, NonNull}};
#[repr(C)]
#[derive(Clone, Copy)]
pub union Number { int: u32, float: f32, parts: (u16, u16), bytes: [u8; 4] }
#[repr(C)]
pub struct Header { tag: u8, next: *mut Header, body: Number }
pub struct Block { data: *mut u16, len: usize, owner: Option<NonNull<Block>> }
impl Block {
    #[inline(never)]
    unsafe fn fill(&mut self, from: *const u16) -> *mut u16 {
        let end = self.data.add(self.len);
        let mut to = self.data;
        let mut source = from;
        while to < end { *to = *source; to = to.add(1); source = source.add(1); }
        core::hint::black_box((&to, &source, &end));
        here!(); // STOP print *from; print *self.data; print self.len; print end - self.data; print source - from; print self.data[1]; print *self.data.1; print self.owner; whatis from; whatis to; whatis self.data; print *(from + 1); print to == end; ptype self; bt 1; print self.data as u64 == 0; x/3dh from; print *from + 1; whatis *from
        to
    }
}
#[inline(never)]
unsafe fn count(mut at: *const Header) -> u32 {
    let mut n = 0;
    while !at.is_null() {
        let current = &*at;
        n += current.tag as u32;
        core::hint::black_box(&current);
        here!(); // STOP print n; print at.tag; print (*at).tag; print *at; print current.body; print current.body.int; print/x current.body.int; print current.body.float; print current.body.parts; print current.body.bytes; print (*at).next; whatis at; whatis current; ptype at; ptype current.body; print current.next == 0; print at; bt 1
        at = current.next;
    }
    n
}
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    unsafe {
        let source = [1u16, 2, n as u16]; let mut target = [0u16; 3];
        let mut owner = Block { data: ptr::null_mut(), len: 0, owner: None };
        let mut block = Block { data: target.as_mut_ptr(), len: 3, owner: NonNull::new(&mut owner) };
        let end = block.fill(source.as_ptr());
        let mut last = Header { tag: 2, next: ptr::null_mut(), body: Number { float: 1.5 } };
        let first = Header { tag: 1, next: &mut last, body: Number { int: 0x41424344 } };
        let total = count(&first);
        let mut slots: [MaybeUninit<u32>; 2] = [MaybeUninit::new(7), MaybeUninit::new(n as u32)];
        slots[0].write(8); let ready = slots[1].assume_init(); let manual = ManuallyDrop::new(Box::new(4u8));
        let leaked: &'static mut i32 = Box::leak(Box::new(n)); *leaked += 1; let raw = leaked as *mut i32; let pointer: *const *mut i32 = &raw; let bits: u32 = mem::transmute(1.0f32); let swapped = mem::replace(&mut target[0], 9); let null: *const u8 = ptr::null(); let wide: *const [u16] = &source[..2]; let text: *const str = "raw";
        core::hint::black_box((&source, &target, &owner, &block, &end, &last, &first, &total, &slots)); core::hint::black_box((&ready, &manual, &raw, &pointer, &bits, &swapped, &null, &wide, &text));
        here!(); // STOP print source; print target; print owner; print block.len; print block.owner; print last; print first.body; print total; print slots; print slots[0]; print ready; print manual; print *leaked; print *raw; print **pointer; print bits; print/x bits; print swapped; print null; print wide; print text; whatis slots; ptype slots[0]; whatis manual; whatis raw; whatis pointer; whatis wide; whatis text; ptype block; ptype raw::Number; ptype first; print sizeof(first); print first.next.tag; print first.next.body.float; print *first.next; print &*raw == raw; print raw == leaked; print null as u64; print source[1] + target[1]; print *(raw as *const u8); print (block.data as u64) == 0; print *block.data; print first.body.bytes[0]; print last.next; whatis block.owner; print *block.owner; print null == 0; print &source[1] - &source[0]
        total as i32 + ready as i32 + bits as i32 + swapped as i32 + end.is_null() as i32 + null.is_null() as i32 + **manual as i32
    }
}
