-- Which tasks have read what was said in another conversation: their transcripts hold it, too.
CREATE TABLE copied (conversation BIGINT NOT NULL, task BIGINT NOT NULL, PRIMARY KEY (conversation, task));
CREATE INDEX copied_task ON copied (task);
-- at: when it was asked for; files that are older go, too.
ALTER TABLE forgetting ADD COLUMN at BIGINT NOT NULL DEFAULT 0;
