-- What the person of a reminder has made of it: done, or again at again_at; null while nobody has said so.
ALTER TABLE occurrence ADD COLUMN settled TEXT;
ALTER TABLE occurrence ADD COLUMN again_at INTEGER;
