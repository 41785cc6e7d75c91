#!/bin/sh
# keep_report.sh OBJECT COMMAND...: runs a compiler and keeps its messages, which include the
# resources of each kernel, in OBJECT.ptxas.
report=$1.ptxas
shift
"$@" 2>"$report"
status=$?
if [ $status -ne 0 ] || grep -q warning "$report"; then cat "$report" >&2; fi
exit $status
