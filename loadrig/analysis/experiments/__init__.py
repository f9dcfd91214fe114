"""Experiments inside one run: arms of one kind that differ in an option, and models beside one another."""
