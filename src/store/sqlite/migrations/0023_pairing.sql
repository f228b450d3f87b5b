-- The one code that makes an owner of who sends it: how many wrong ones were tried, until when, and who used it.
CREATE TABLE pairing (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    code TEXT NOT NULL,
    tries INTEGER NOT NULL,
    until INTEGER NOT NULL,
    person TEXT
) STRICT;

-- Codes of strangers who want to be let in, one each: wrong ones that an owner tried while it was open, and whether it
-- was approved.
CREATE TABLE pairing_request (
    person TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    code TEXT NOT NULL,
    tries INTEGER NOT NULL,
    until INTEGER NOT NULL,
    approved INTEGER NOT NULL
) STRICT;

-- Who was paired, as what, and when: besides those of the config.
CREATE TABLE paired (
    person TEXT PRIMARY KEY,
    trust TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
