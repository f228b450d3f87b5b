-- Finds schedules that a clock which was ahead has dated: without reading them all at each start.
CREATE INDEX schedule_begun ON schedule (created_at, counts_from);
