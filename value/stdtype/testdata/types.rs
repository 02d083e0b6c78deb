// A variable of each known type. rust1.63.debug and rust1.95.debug are the output of these
// compilers (rustc -g -O --edition 2021 --crate-type=lib --emit=obj), linked as
// a library, with only the debugging information, compressed by dwz and zlib.
use std::cell::*;
use std::collections::*;
use std::mem::MaybeUninit as M;
use std::num::*;
use std::rc::Rc;
use std::sync::Arc;

#[no_mangle] pub static mut text: M<String> = M::uninit();
#[no_mangle] pub static mut slice: M<&[i32]> = M::uninit();
#[no_mangle] pub static mut str_: M<&str> = M::uninit();
#[no_mangle] pub static mut path: M<&std::path::Path> = M::uninit();
#[no_mangle] pub static mut path_buf: M<std::path::PathBuf> = M::uninit();
#[no_mangle] pub static mut vec: M<Vec<Vec<i32>>> = M::uninit();
#[no_mangle] pub static mut ring: M<VecDeque<i32>> = M::uninit();
#[no_mangle] pub static mut map: M<HashMap<i32, i32>> = M::uninit();
#[no_mangle] pub static mut set: M<HashSet<u8>> = M::uninit();
#[no_mangle] pub static mut tree: M<BTreeMap<i32, BTreeMap<i32, u8>>> = M::uninit();
#[no_mangle] pub static mut tree_set: M<BTreeSet<i32>> = M::uninit();
#[no_mangle] pub static mut rc: M<Rc<i32>> = M::uninit();
#[no_mangle] pub static mut arc: M<Arc<Vec<i32>>> = M::uninit();
#[no_mangle] pub static mut rc_text: M<Rc<str>> = M::uninit();
#[no_mangle] pub static mut rc_list: M<Rc<[u16]>> = M::uninit();
#[no_mangle] pub static mut cell: M<Cell<i32>> = M::uninit();
#[no_mangle] pub static mut ref_cell: M<RefCell<i32>> = M::uninit();
#[no_mangle] pub static mut lent: M<Ref<'static, i32>> = M::uninit();
#[no_mangle] pub static mut non_zero: M<NonZeroU32> = M::uninit();
