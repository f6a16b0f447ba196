"""The command line: one command for each task of a reader.

`commands` has them all; `measure` the longest one; `table_options` what commands that read tables
share. It imports what it needs when a command runs. Begin with `commands.main`.
"""
