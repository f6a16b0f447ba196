"""The command line: one command for each task of a reader.

`entry` is the group, `commands` has them all; `claims` and `measure` stand apart, `table_options`
is what commands that read tables share. It imports what it needs when a command runs. Begin with
`entry.main`.
"""
