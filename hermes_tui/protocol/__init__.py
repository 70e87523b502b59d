"""The words that every part speaks: events, messages, inquiries, contexts. Imports nothing of the project."""
