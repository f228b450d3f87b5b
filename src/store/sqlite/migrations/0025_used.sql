-- The names of models that have answered.
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
-- used: the model's call that wrote the item; null where none did. Its model, its milliseconds, then its tokens read,
-- cached and written, its millionths of a dollar, and its tries where there were several; what the only call of a task
-- has used stands with the task alone.
ALTER TABLE transcript ADD COLUMN used TEXT;
