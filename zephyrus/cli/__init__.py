"""The command line: click commands, one file a group, each importing its work when it runs."""
