-- What of a conversation was summed up: endings of its epoch up to one. making: up to which a summary is being made.
-- stale: it covers what was taken back. made: how many were begun on the day.
CREATE TABLE summary (
    conversation BIGINT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    upto BIGINT NOT NULL,
    making BIGINT,
    stale BIGINT NOT NULL,
    day BIGINT NOT NULL,
    made BIGINT NOT NULL
);
