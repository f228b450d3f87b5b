//! Pictures that belong to an answer, as files of the place that it is written in.

use crate::paths::{Finder, Roots, refused};
use selkie_domain::answer_picture::AnswerPicture;

/// The folder of these pictures, in a place's own.
pub const PICTURES: &str = "pictures";

/// Writes one under a name made of its bytes, and returns the name: what is kept again is kept once.
///
/// # Errors
/// In words.
pub fn keep_picture(roots: &Roots, picture: &AnswerPicture) -> Result<String, String> {
    let finder = Finder { tool: "a picture of the model", roots, deny: &[] };
    let name = picture.name();
    let path = format!("file_cache_dir/{PICTURES}/{name}");
    let file = finder.writable(&path).map_err(|error| error.to_string())?;
    file.replace(picture.bytes()).map_err(|error| refused(&path, &error).to_string())?;
    Ok(name)
}
