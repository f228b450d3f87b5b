-- The one code that makes an owner of who sends it: how many wrong ones were tried, until when, and who used it.
CREATE TABLE pairing (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    code TEXT COLLATE "C" NOT NULL,
    tries BIGINT NOT NULL,
    until BIGINT NOT NULL,
    person TEXT COLLATE "C"
);

-- Codes of strangers who want to be let in, one each: wrong ones that an owner tried while it was open, and whether it
-- was approved.
CREATE TABLE pairing_request (
    person TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    tries BIGINT NOT NULL,
    until BIGINT NOT NULL,
    approved BIGINT NOT NULL
);

-- Who was paired, as what, and when: besides those of the config.
CREATE TABLE paired (
    person TEXT COLLATE "C" PRIMARY KEY,
    trust TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);
