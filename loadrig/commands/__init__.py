"""The commands: each reads files and writes files; none calls another."""
