//! What a document may take: a file of a few bytes can claim to be anything.

/// Bytes of a file that is read.
pub const MAX_FILE: u64 = 32 * 1024 * 1024;
/// Files in an archive.
pub(crate) const ENTRIES: usize = 20_000;
/// Bytes of one unpacked file of an archive.
pub(crate) const ENTRY: u64 = 64 * 1024 * 1024;
/// Bytes of all unpacked files that are read of an archive.
pub(crate) const UNPACKED: u64 = 256 * 1024 * 1024;
/// How many times larger a file may become when it is unpacked …
pub(crate) const RATIO: u64 = 400;
/// … once it is larger than this, in bytes.
pub(crate) const RATIO_FROM: u64 = 1024 * 1024;
/// Elements of XML within each other.
pub(crate) const DEPTH: usize = 256;
/// Pages of a document.
pub(crate) const PAGES: usize = 4_000;
/// Bytes of all text of a document.
pub(crate) const TEXT: usize = 6 * 1024 * 1024;
/// Bytes of a page of a document that has none of its own.
pub(crate) const PART: usize = 16 * 1024;
/// Cells of all sheets that hold something.
pub(crate) const CELLS: usize = 500_000;
/// Rows on one page of a sheet.
pub(crate) const ROWS: usize = 200;
/// Columns that stand between two cells and are shown; over more a cell is told by its name.
pub(crate) const GAP: usize = 8;
/// Bytes of one cell that are shown.
pub(crate) const CELL: usize = 2_000;
/// Bytes of a title or a label.
pub(crate) const TITLE: usize = 200;
/// Warnings of a document.
pub(crate) const WARNINGS: usize = 20;
