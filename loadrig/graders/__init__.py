"""Judging answers after the run, one way a file; each reads records and questions and never touches a record."""
