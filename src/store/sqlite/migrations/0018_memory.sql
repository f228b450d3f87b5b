-- Whose memory it is. The number stands before each word of its pieces: one memory's words are no other's.
CREATE TABLE memory_subject (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;

-- Which files of memory were looked at, and what they looked like then.
CREATE TABLE memory_file (path TEXT PRIMARY KEY, subject INTEGER NOT NULL, look TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX memory_file_subject ON memory_file (subject);

-- Pieces of those files: lines first to last, whose words they are, and the words by which they are found.
CREATE TABLE memory_piece (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    section TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL,
    level TEXT NOT NULL,
    words TEXT NOT NULL
) STRICT;
CREATE INDEX memory_piece_path ON memory_piece (path);
CREATE VIRTUAL TABLE memory_words USING fts5(words, content='memory_piece', content_rowid='id', tokenize='ascii');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

-- Places that are being forgotten: up to which rows, and how far that has got.
CREATE TABLE forgetting (
    conversation INTEGER PRIMARY KEY,
    task INTEGER NOT NULL,
    inbox INTEGER NOT NULL,
    outbound INTEGER NOT NULL,
    tasks_done INTEGER NOT NULL,
    inbox_done INTEGER NOT NULL,
    outbound_done INTEGER NOT NULL
) STRICT;
