-- Answers of a task that is not over, in their provider's own form: they go back to it, and go with the task's end.
CREATE TABLE own_form (
    task INTEGER NOT NULL,
    step TEXT NOT NULL,
    origin TEXT NOT NULL,
    form TEXT NOT NULL,
    PRIMARY KEY (task, step)
) STRICT, WITHOUT ROWID;
