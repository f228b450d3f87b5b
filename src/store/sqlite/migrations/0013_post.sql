-- What was said to a public conversation: who asked for it (null: nobody is told what becomes of it), for which time of
-- which schedule, and whether whoever asked was told.
CREATE TABLE post (
    outbound INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    asked INTEGER,
    schedule INTEGER,
    at INTEGER,
    told INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX post_month ON post (conversation, created_at);
CREATE INDEX post_untold ON post (outbound) WHERE told = 0;
