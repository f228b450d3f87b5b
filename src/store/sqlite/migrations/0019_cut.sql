-- Where a conversation's history begins, and which of its tasks are shown short: endings of its epoch.
ALTER TABLE conversation ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN short INTEGER NOT NULL DEFAULT 0;
