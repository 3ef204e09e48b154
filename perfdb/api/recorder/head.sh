#!/bin/sh
# Records a measurement for perfdb: runs a load tool, takes counters and settings of this host (and over ssh of the
# server's) before and after it, keeps everything in a folder and uploads it. Linux; POSIX shell, nothing to install.
# docs/recording.md tells more.
set -u
umask 077
unset CDPATH

default_url='' # The server that gives this script out fills in its own address.
records=perfdb-records
self=$0

# Exit status where it is not that of the command.
usage_error=64 # the command line cannot be understood
not_pushed=75  # --push: something could not be uploaded; it is kept
not_started=73 # the folder or the first snapshot could not be made; the command was not run

study='' device='' server='' server_device='' run_id='' trial='' repeat='' url='' token='' token_file=''
fact_names=run_id,trial,start_utc,end_utc,exit_status fact_cells='' attached='' mode=record interrupted='' scratch=''
newline='
'

usage() {
    cat <<'USAGE'
record.sh [OPTION...] [KEY=VALUE...] -- COMMAND...    measure: snapshots before and after COMMAND, then upload
record.sh [--url URL] --push [FOLDER...]              upload what is not uploaded yet; with --study, to that study
record.sh --list                                      say what is recorded here, and what is uploaded

  --study STUDY          the study it belongs to; your inbox without it
  --device ADAPTER       the adapter under test on this host, which is the client: eth0
  --server USER@HOST     take snapshots there too, over ssh
  --server-device NAME   its adapter, where it is called otherwise than this host's
  --run-id ID            letters, digits and . _ -; host and time without it
  --trial N              the number of this run among its repetitions
  --repeat N             run N trials; -1, -2, ... are put behind the run id
  --workload NAME        RR, CRR, STRG, STRP ..., where the tool's output does not say
  --attach FILE          keep this file with the run, such as a uperf profile; may be repeated
  --url URL              address of perfdb (or PERFDB_URL)
  --token-file FILE      the token is its first line; else PERFDB_TOKEN, else ~/.perfdb-token
  --token TOKEN          other users may see it in the list of processes for a moment
  --dry-run              say what would be done
  KEY=VALUE              what no file says: users=8 device="QDIO GbE" layer=3 factor.cable=short

Everything is first kept in perfdb-records/RUN_ID. The exit status is that of COMMAND, whether or not the upload
worked; 64: wrong usage, 73: not started, 75: --push left something behind.
USAGE
}

say() { printf 'perfdb: %s\n' "$*" >&2; }

fail() { # STATUS MESSAGE
    status=$1
    shift
    say "$*"
    exit "$status"
}
