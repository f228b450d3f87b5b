ALTER TABLE meta ADD COLUMN met INTEGER NOT NULL DEFAULT 0;

-- Who spoke in which place, as they were last seen there: derived from the inbox, off the path of messages. at: to the
-- hour. fresh: it is still to be brought into the file of contacts; brought: the @name that was brought there last,
-- brought_at: of which moment. meta.met: up to which row of the inbox all is looked through.
CREATE TABLE met (
    account TEXT,
    place TEXT,
    person TEXT,
    name TEXT NOT NULL,
    username TEXT NOT NULL,
    is_bot INTEGER NOT NULL,
    direct INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fresh INTEGER NOT NULL,
    brought TEXT NOT NULL,
    brought_at INTEGER NOT NULL,
    PRIMARY KEY (account, place, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX met_at ON met (at);
CREATE INDEX met_fresh ON met (at, account, place, person) WHERE fresh = 1;
