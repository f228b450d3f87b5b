-- Lines of groups that wait for the gate, and those a claim was shown while they waited.
CREATE INDEX inbox_gate ON inbox (conversation, id) WHERE disposition = 'gate';
