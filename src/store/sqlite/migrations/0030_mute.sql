-- Of whom no more requests reach who was asked: muted is person or group, until muted_until (milliseconds).
ALTER TABLE approval ADD COLUMN muted TEXT;
ALTER TABLE approval ADD COLUMN muted_until INTEGER;
CREATE INDEX approval_muted ON approval (muted_until) WHERE muted_until IS NOT NULL;
