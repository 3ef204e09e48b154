"""What the importer is called, and the version of what it reads."""

NAME = "iperf3"
VERSION = 4
