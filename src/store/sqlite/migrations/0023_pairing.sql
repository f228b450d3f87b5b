-- The one code that makes an owner of who sends it: how many wrong ones were tried, until when, and who used it.
CREATE TABLE pairing (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    code TEXT NOT NULL,
    tries INTEGER NOT NULL,
    until INTEGER NOT NULL,
    person TEXT
) STRICT;

-- Who was paired, and when: owners besides those of the config.
CREATE TABLE paired (
    person TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT;
