//! Lets the linker pack the program's relocations where the C library reads packed ones (glibc 2.36): two of the
//! twenty megabytes that are resident, and part of every start, are a table of them otherwise.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything by its environment"
)]

use std::env::var;
use std::process::Command;

/// The first glibc that reads them, as major and minor number.
const SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let here = var("HOST").is_ok_and(|host| var("TARGET").is_ok_and(|target| host == target));
    let glibc = var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    // What is built for another machine may run with an older library.
    if here && glibc && version().is_some_and(|version| version >= SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Asks for this machine's glibc: `glibc 2.36`.
fn version() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
