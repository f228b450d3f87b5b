-- What is embedded of a piece, by its digest. The files are read again, so that every piece gets one.
ALTER TABLE memory_piece ADD COLUMN digest TEXT NOT NULL DEFAULT '';
DROP INDEX memory_piece_path;
CREATE INDEX memory_piece_path ON memory_piece (path, digest);
UPDATE memory_file SET look = '';

-- What pieces mean to a model of embeddings: numbers of 32 bits, the lowest byte first, of length 1 together.
CREATE TABLE memory_vector (
    id INTEGER PRIMARY KEY,
    subject INTEGER NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_vector_piece ON memory_vector (path, digest);
CREATE INDEX memory_vector_subject ON memory_vector (subject);
