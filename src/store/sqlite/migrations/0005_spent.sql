-- What people and conversations have used in a minute or a day. By time first: old rows go as one range.
CREATE TABLE spent (
    since INTEGER,
    who TEXT,
    what TEXT,
    amount INTEGER NOT NULL,
    PRIMARY KEY (since, who, what)
) STRICT, WITHOUT ROWID;
