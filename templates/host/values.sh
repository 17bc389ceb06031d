say() { printf '%s\n' "$*"; }

fail() {
  printf 'rocefort-host: %s\n' "$*" >&2
  failed=$((failed + 1))
}

# The words of a file with single blanks between them.
read_file() {
  local text
  text=$(tr -s '[:space:]' ' ' 2>/dev/null <"$1") || return 1
  text=${text# }
  printf '%s' "${text% }"
}

write_file() { printf '%s\n' "$2" 2>/dev/null >"$1"; }

# ensure WHAT WANTED READER SETTER [ARGUMENT...]: both get the arguments, the setter WANTED after
# them. A set value is read again: a driver may accept a value and keep another.
ensure() {
  local what=$1 wanted=$2 reader=$3 setter=$4 found
  shift 4
  if ! found=$("$reader" "$@" 2>/dev/null); then
    fail "$what: cannot be read"
    return 0
  fi
  [ "$found" != "$wanted" ] || return 0
  differing=$((differing + 1))
  say "$what: ${found:-not set} -> $wanted"
  [ "$apply" -eq 1 ] || return 0
  if ! "$setter" "$@" "$wanted" >/dev/null 2>&1; then
    fail "$what: cannot be set to $wanted"
  elif ! found=$("$reader" "$@" 2>/dev/null) || [ "$found" != "$wanted" ]; then
    fail "$what: was set to $wanted, and shows ${found:-nothing}"
  fi
}

ensure_file() { ensure "$1" "$3" read_file write_file "$2"; }

has_tool() { command -v "$1" >/dev/null 2>&1; }
