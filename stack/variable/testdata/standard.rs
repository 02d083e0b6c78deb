// Values of the types of Rust's library.
use std::cell::*;
use std::collections::*;
use std::num::*;
use std::rc::Rc;
use std::sync::Arc;

#[allow(dead_code)]
#[derive(Debug)]
struct Point { x: i32, y: f64 }

#[inline(never)]
fn last(
    text: &str, owned: String, empty: String, numbers: Vec<i32>, texts: Vec<String>, ring: VecDeque<i32>,
    map: HashMap<String, i32>, set: HashSet<u8>, tree: BTreeMap<i32, String>, tree_set: BTreeSet<i32>, large: BTreeMap<u64, u16>,
    rc: Rc<Point>, arc: Arc<String>, cell: Cell<i32>, borrowed: RefCell<Vec<i32>>, non_zero: NonZeroU32,
    os: std::ffi::OsString, points: &[Point], bytes: &mut [u8], option: Option<String>, result: Result<Vec<i32>, String>,
    pair: (String, i32), no_map: HashMap<i32, i32>, no_tree: BTreeMap<i32, i32>, boxed: Box<String>, utf: &str,
    path: &std::path::Path, path_buf: std::path::PathBuf, rc_text: Rc<str>, rc_list: Rc<[u16]>,
    box_text: Box<str>, box_list: Box<[u16]>, c_string: std::ffi::CString,
) {
    let array = [1u8, 2, 3];
    let nested: Vec<Vec<i32>> = vec![vec![1], vec![]];
    let many: Vec<i32> = (0..300).collect();
    let tuples: Vec<(u8, u64)> = vec![(1, 2), (3, 4)];
    let mut wrapped = VecDeque::with_capacity(4);
    for i in 0..4 { wrapped.push_back(i); }
    wrapped.pop_front();
    wrapped.pop_front();
    wrapped.push_back(9);
    let inner: HashMap<u8, BTreeMap<u8, Option<u8>>> = [(1u8, [(2u8, Some(3u8))].into_iter().collect())].into_iter().collect();
    let view = borrowed.borrow();
    let mut many_hashed: HashSet<u32> = HashSet::new();
    for i in 0..100 { many_hashed.insert(i); }
    let weak = Rc::downgrade(&rc);
    if array.len() == 3 { unsafe { std::arch::asm!("ud2") } }
    println!("{:?}", (text, owned, empty, numbers, texts, ring, map, set, tree, tree_set, large));
    println!("{:?}", (rc, arc, cell, &borrowed, non_zero, os, points, bytes, option, result, pair));
    println!("{:?}", (no_map, no_tree, boxed, utf, path, path_buf, rc_text, rc_list));
    println!("{:?}", (box_text, box_list, c_string, weak, view, many_hashed));
    println!("{:?}", (array, nested, many, tuples, wrapped, inner));
}

fn main() {
    let map = [("k".to_string(), 1), ("l".to_string(), 2)].into_iter().collect();
    let large = (0..150u64).map(|i| (i * 7 % 150, i as u16)).collect();
    last(
        "hi", "there".into(), String::new(), vec![1, 2, 3], vec!["a".into(), "b".into()], vec![1, 2].into(),
        map, [5u8].into_iter().collect(), [(1, "one".to_string()), (2, "two".to_string())].into_iter().collect(), [3].into_iter().collect(), large,
        Rc::new(Point { x: 1, y: 2.5 }), Arc::new("arc".into()), Cell::new(4), RefCell::new(vec![1]), NonZeroU32::new(7).unwrap(),
        "os".into(), &[Point { x: 3, y: 4.5 }], &mut [1, 2], Some("some".into()), Ok(vec![1]),
        ("t".into(), 1), HashMap::new(), BTreeMap::new(), Box::new("boxed".into()), "gr\u{fc}n",
        std::path::Path::new("/p"), "/a/b".into(), "text".into(), vec![7, 8].into(),
        "boxed".into(), vec![9].into(), std::ffi::CString::new("c").unwrap(),
    );
}
