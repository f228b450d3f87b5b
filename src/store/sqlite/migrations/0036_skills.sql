-- Which skills are in force in a conversation.
ALTER TABLE conversation ADD COLUMN skills TEXT;
