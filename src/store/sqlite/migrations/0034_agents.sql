-- Agents: tasks that another task has begun, each in a conversation of its own.
DROP INDEX task_child;
ALTER TABLE task RENAME COLUMN child TO parent;
ALTER TABLE task ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;
ALTER TABLE conversation ADD COLUMN parent INTEGER;
CREATE INDEX conversation_parent ON conversation (parent) WHERE parent IS NOT NULL;
ALTER TABLE task_words ADD COLUMN agent TEXT;
