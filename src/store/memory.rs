//! The index of what is remembered: pieces of the files of memory, found by their words. The files are the truth: what
//! stands here is made of them, and made again.

use async_trait::async_trait;

use crate::error::Result;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_domain::vector::UnitVector;

/// The index of what is remembered.
#[async_trait]
pub trait Memories: Send + Sync {
    /// Lists the subjects that have pieces.
    async fn memory_subjects(&self) -> Result<Vec<String>>;

    /// Lists the files of a subject that were indexed, and what they looked like then.
    async fn memory_files(&self, subject: &str) -> Result<Vec<FileNote>>;

    /// Puts a file's pieces in the place of those that it had. Relaxed: the file is there still.
    async fn index_memory(&self, file: IndexedFile) -> Result<()>;

    /// Takes the pieces of a file out of the index. Durable: nothing of it is left on the disk.
    async fn drop_memory(&self, path: &str) -> Result<()>;

    /// Finds the pieces of some subjects that have several of the words, those that have most of them first; the newest of
    /// those that have as many.
    async fn search_memory(&self, sought: SoughtWords) -> Result<Vec<Piece>>;

    /// Lists pieces without a vector of this model, the newest first: those before a piece, so many at most.
    async fn pieces_without_vector(&self, sought: SoughtPieces) -> Result<Vec<BarePiece>>;

    /// Keeps what pieces mean to this model, in the place of what they meant to another one; what is gone meanwhile gets
    /// none. Returns how many were kept. Relaxed: they can be asked for again.
    async fn keep_vectors(&self, model: &str, vectors: Vec<PieceVector>) -> Result<usize>;

    /// How many numbers the vectors of this model have; `None` while there is none.
    async fn vector_width(&self, model: &str) -> Result<Option<usize>>;

    /// Finds the pieces of some subjects that are nearest to a vector, the nearest first.
    async fn near_memory(&self, sought: SoughtVector) -> Result<Vec<NearPiece>>;
}

/// A file of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNote {
    /// Its path in the state folder.
    pub path: String,
    /// What it looked like from outside.
    pub look: String,
}

/// A file as it is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedFile {
    /// Whose memory it is.
    pub subject: String,
    /// The file.
    pub note: FileNote,
    /// What stands in it.
    pub pieces: Vec<Piece>,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The file.
    pub path: String,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The heading that it stands under; empty without one.
    pub section: String,
    /// What it says.
    pub text: String,
    /// How far its author is trusted.
    pub trust: Trust,
    /// Whose words it holds.
    pub level: Taint,
    /// The words by which it is found, with a space between them: letters and digits alone.
    pub words: String,
    /// Stands for what is embedded of it: the same for the same words under the same heading.
    pub digest: String,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoughtWords {
    /// In these subjects.
    pub subjects: Vec<String>,
    /// Some of these, each letters and digits alone.
    pub words: Vec<String>,
    /// So many of them stand in a piece at least.
    pub least: usize,
    /// With so many pieces of one subject, those are not looked for that have fewer of the words.
    pub enough: usize,
}

/// Which pieces without a vector are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoughtPieces {
    /// Without one of this model.
    pub model: String,
    /// Older than this one, by its number.
    pub before: i64,
    /// So many at most.
    pub most: usize,
}

/// A piece without a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarePiece {
    /// Its number: a newer piece has a higher one.
    pub id: i64,
    /// The file.
    pub path: String,
    /// See [`Piece::digest`].
    pub digest: String,
    /// The heading that it stands under.
    pub section: String,
    /// What it says.
    pub text: String,
}

/// What a piece means.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceVector {
    /// The file.
    pub path: String,
    /// See [`Piece::digest`].
    pub digest: String,
    /// The direction.
    pub vector: UnitVector,
}

/// What is looked for by what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct SoughtVector {
    /// In these subjects.
    pub subjects: Vec<String>,
    /// Among the vectors of this model.
    pub model: String,
    /// Near to this one.
    pub vector: UnitVector,
    /// So many at most.
    pub most: usize,
}

/// A piece, and how near it is.
#[derive(Clone, Debug, PartialEq)]
pub struct NearPiece {
    /// The piece.
    pub piece: Piece,
    /// How alike it points, from -1 to 1.
    pub cosine: f32,
}
