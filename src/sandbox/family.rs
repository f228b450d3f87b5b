//! Who descends from whom, as /proc tells.

use std::collections::BTreeMap;
use std::fs;

/// The living processes that descend from one, without itself.
pub fn descendants(of: i32) -> Vec<i32> {
    let mut families = families();
    let mut all = Vec::new();
    let mut next = vec![of];
    while let Some(parent) = next.pop() {
        let born = families.remove(&parent).unwrap_or_default();
        next.extend(&born);
        all.extend(born);
    }
    all
}

/// The living children of a process.
pub fn children(of: i32) -> Vec<i32> {
    families().remove(&of).unwrap_or_default()
}

/// Every living process by its parent.
fn families() -> BTreeMap<i32, Vec<i32>> {
    let mut families: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = living_parent(pid) {
            families.entry(parent).or_default().push(pid);
        }
    }
    families
}

/// The parent of a process that is not dead yet: field 4 of its `stat`, behind the name in brackets.
fn living_parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    fields.next().filter(|_| !matches!(state, "Z" | "X"))?.parse().ok()
}
