ALTER TABLE meta ADD COLUMN met BIGINT NOT NULL DEFAULT 0;

-- Who spoke in which place, as they were last seen there: derived from the inbox, off the path of messages. at: to the
-- hour. fresh: it is still to be brought into the file of contacts; brought: the @name that was brought there last,
-- brought_at: of which moment. meta.met: up to which row of the inbox all is looked through.
CREATE TABLE met (
    account TEXT COLLATE "C",
    place TEXT COLLATE "C",
    person TEXT COLLATE "C",
    name TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL,
    is_bot BIGINT NOT NULL,
    direct BIGINT NOT NULL,
    at BIGINT NOT NULL,
    fresh BIGINT NOT NULL,
    brought TEXT COLLATE "C" NOT NULL,
    brought_at BIGINT NOT NULL,
    PRIMARY KEY (account, place, person)
);
CREATE INDEX met_at ON met (at);
CREATE INDEX met_fresh ON met (at, account, place, person) WHERE fresh = 1;
