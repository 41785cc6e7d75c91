# Sourced by tests in bash: expectations on a command and on its output, which is in the file
# `said`. Tests end with `exit $failed`.

failed=0
# expect WHAT WANTED GOT
expect() {
  [[ $2 == "$3" ]] && return
  echo "$1: expected '$2', got '$3'" >&2
  tail -n 20 said >&2
  failed=1
  return 1
}
# status COMMAND...: its exit status, in $got; all it said, in the file said
status() {
  "$@" >said 2>&1
  got=$?
}
# says WHAT TEXT: the last command has said it
says() {
  grep -qF -- "$2" said && return
  echo "$1: expected '$2' in what it says:" >&2
  tail -n 20 said >&2
  failed=1
  return 1
}
# until_there WHAT COMMAND: waits until the command succeeds, a minute and a half at most. COMMAND
# is one word, so that its patterns may name files that do not exist yet.
until_there() {
  local i
  for ((i = 0; i < 900; ++i)); do
    eval "$2" >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "$1: waited in vain" >&2
  failed=1
  return 1
}
