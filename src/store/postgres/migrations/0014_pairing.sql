-- The one code that makes an owner of who sends it: how many wrong ones were tried, until when, and who used it.
CREATE TABLE pairing (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    code TEXT COLLATE "C" NOT NULL,
    tries BIGINT NOT NULL,
    until BIGINT NOT NULL,
    person TEXT COLLATE "C"
);

-- Who was paired, and when: owners besides those of the config.
CREATE TABLE paired (
    person TEXT COLLATE "C" PRIMARY KEY,
    at BIGINT NOT NULL
);
