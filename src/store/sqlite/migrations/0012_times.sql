-- What a schedule has used in a day is counted from counts_from at the earliest; last_at, last_local: its last time, and
-- what the clocks of its zone showed then, by the zone data of that day.
ALTER TABLE schedule ADD COLUMN counts_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE schedule ADD COLUMN last_at INTEGER;
ALTER TABLE schedule ADD COLUMN last_local TEXT;
CREATE INDEX occurrence_used ON occurrence (schedule, fired_at) WHERE task IS NOT NULL;

-- The time zone that a person (account '') or a place has set.
CREATE TABLE timezone (account TEXT, who TEXT, zone TEXT NOT NULL, PRIMARY KEY (account, who)) STRICT, WITHOUT ROWID;

-- zones: the version of the zone data by which the next times of schedules were set; null for one that is not known.
ALTER TABLE meta ADD COLUMN zones TEXT;
