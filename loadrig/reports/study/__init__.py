"""The report of a study: study.md and study.json, by research question; tables of the runs where they fit."""
