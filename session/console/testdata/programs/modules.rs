#![no_std]
#![crate_type = "lib"]
extern crate alloc;
include!("support/support.rs");
pub mod net {
    pub static PORT: u16 = 8080; pub static mut OPEN: i32 = 0; pub const HOST: &str = "localhost";
    pub mod packet {
        pub struct Header { pub kind: u8, pub length: u16 }
        impl Header { #[inline(never)] pub fn new(kind: u8, length: u16) -> Header { let h = Header { kind, length }; core::hint::black_box(&h);
            here!(); // STOP print h; print kind; print length; print h.length; bt; ptype h; whatis h; print modules::net::PORT; print &h.kind; up; info locals
            core::hint::black_box(&h);
            h }
            pub fn total(&self) -> u32 { self.length as u32 + super::PORT as u32 } }
        pub static LAST: Header = Header { kind: 7, length: 70 };
    }
    #[inline(never)] pub fn open(port: u16) -> i32 { unsafe { OPEN += port as i32; }
        here!(); // STOP print port; print modules::net::OPEN; print modules::net::packet::LAST; print modules::net::packet::LAST.length; bt 1; whatis modules::net::packet::LAST; print modules::net::OPEN + 1; print port == modules::net::PORT
        core::hint::black_box(port);
        unsafe { OPEN } }
}
fn outer(n: i32) -> i32 { static SEEN: i32 = 5; fn inner(x: i32) -> i32 { let y = x * 2; core::hint::black_box(&y);
    here!(); // STOP print x; print y; bt; print y - x; print x == 3 && y == 6
    y } inner(n) + SEEN }
#[no_mangle] pub extern "C" fn run(n: i32) -> i32 {
    let header = net::packet::Header::new(1, n as u16); let opened = net::open(80); let shadow = 1; let value = outer(n);
    { let shadow = "inner"; core::hint::black_box(&shadow);
      here!(); // STOP print shadow; print header; print value; print opened; info locals
    }
    let shadow = shadow + 1; core::hint::black_box(&shadow);
    here!(); // STOP print shadow; print modules::net::PORT; print modules::net::packet::Header::new; print modules::net::open; whatis modules::net::open; list modules::net::open; info line modules::net::open; ptype modules::net::packet::Header; print modules::nosuch; print nosuch::x; print header.total; print header.length + 1
    header.total() as i32 + opened + shadow + value + net::HOST.len() as i32 + net::packet::LAST.kind as i32
}
