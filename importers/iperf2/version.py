"""What the importer is called, and the version of what it reads."""

NAME = "iperf2"
VERSION = 3
