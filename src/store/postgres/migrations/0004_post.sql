-- What was said to a public conversation: who asked for it (null: nobody is told what becomes of it), for which time of
-- which schedule, and whether whoever asked was told.
CREATE TABLE post (
    outbound BIGINT PRIMARY KEY,
    conversation BIGINT NOT NULL,
    asked BIGINT,
    schedule BIGINT,
    at BIGINT,
    told BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX post_month ON post (conversation, created_at);
CREATE INDEX post_untold ON post (outbound) WHERE told = 0;
