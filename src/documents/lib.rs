//! Documents as pages of text, whatever their bytes try. It runs where foreign bytes can do no harm: in a process of its own.

mod archive;
mod bounds;
mod csv_table;
mod document;
pub mod encoding;
mod epub;
mod error;
#[cfg(test)]
mod fuzz;
pub mod html;
mod kind;
mod mail;
mod office;
mod open_document;
mod pdf;
mod read;
mod scan;
mod sheets;
mod slides;
#[cfg(test)]
mod tests;
mod word;
mod xml;

pub use bounds::MAX_FILE;
pub use document::{Document, Page};
pub use error::DocumentError;
pub use kind::{Kind, is_html, may_be_document};
pub use read::read;
pub use scan::{PagePicture, page_picture};
