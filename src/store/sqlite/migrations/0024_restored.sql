-- restored: where a life was restored from, while nobody has said that it may go on.
ALTER TABLE meta ADD COLUMN restored TEXT;
