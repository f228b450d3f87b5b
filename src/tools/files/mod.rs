//! Files beneath the scope's roots.

mod blocking;
mod list_files;
mod page;
mod pattern;
mod read_file;
mod sniff;
mod write_file;

pub(super) use list_files::ListFiles;
pub(super) use read_file::ReadFile;
pub(super) use write_file::WriteFile;
