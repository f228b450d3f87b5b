-- Which tasks have read what was said in another conversation: their transcripts hold it, too.
CREATE TABLE copied (conversation INTEGER NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (conversation, task)) STRICT, WITHOUT ROWID;
CREATE INDEX copied_task ON copied (task);
-- at: when it was asked for; files that are older go, too.
ALTER TABLE forgetting ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
