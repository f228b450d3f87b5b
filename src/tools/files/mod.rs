//! Files beneath the scope's roots.

mod apply_patch;
mod blocking;
mod denied;
mod edit_file;
mod fit;
#[cfg(test)]
mod fuzz;
mod git_status;
mod glob;
mod grep;
mod hunk;
mod hunk_envelope;
mod hunk_unified;
mod image;
mod lines;
mod list_files;
mod notebook;
mod notebook_edit;
mod page;
mod patch;
mod pattern;
pub(in crate::tools) mod picture;
mod read_file;
mod read_schema;
mod replace;
mod schemas;
mod sniff;
mod tame;
mod validate;
mod walk;
mod whole;
mod write_file;

pub(super) use apply_patch::ApplyPatch;
pub(super) use denied::Denied;
pub(super) use edit_file::EditFile;
pub(super) use git_status::GitStatus;
pub(super) use glob::Glob;
pub(super) use grep::Grep;
pub(super) use list_files::ListFiles;
pub(super) use notebook_edit::NotebookEdit;
pub(super) use patch::Patch;
pub use picture::PictureKeeper;
pub(super) use read_file::ReadFile;
pub(super) use read_schema::ReadSchema;
pub use schemas::Schemas;
pub(super) use write_file::WriteFile;
