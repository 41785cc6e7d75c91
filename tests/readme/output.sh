# What a page says that a command or a program prints, held against what it printed.

# Lines as they are compared: numbers, hashes and times are "#", columns one blank apart, and marks
# of significance, which depend on the numbers, left out.
shape() {
  sed -E -e 's/[0-9a-f]{16,32}/#/g' -e 's/[†*]//g' \
    -e 's/[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?k?/#/g' \
    -e 's/# (h|min) # (s|min)/# s/g' -e 's/, # s left//' -e 's/(- ?)?(inf|nan)/#/g' \
    -e 's/[[:space:]]+/ /g' -e 's/^ //' -e 's/ $//'
}

# check_output PLACE: each line of $here/text has to be one of $here/output; calls failed() where not.
check_output() {
  shape <"$here/output" >"$here/output.shape"
  local line
  while IFS= read -r line; do
    [[ -z $line || $line == ... ]] && continue
    grep -qxF -- "$line" "$here/output.shape" || {
      cat "$here/output" >&2
      failed "$1: expected a line like '$line' in what the block before it prints"
    }
  done < <(shape <"$here/text")
}
