-- Answers of a task that is not over, in their provider's own form: they go back to it, and go with the task's end.
CREATE TABLE own_form (
    task BIGINT NOT NULL,
    step TEXT COLLATE "C" NOT NULL,
    origin TEXT COLLATE "C" NOT NULL,
    form TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task, step)
);
