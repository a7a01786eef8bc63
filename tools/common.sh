# Shared by the tools: source it. Sets `root`, the project's folder; the caller stays in its own.

# OpenMP threads sleep instead of spinning for long, as in the program itself: the machine may be shared.
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-3000}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# Prints the comment at the top of the calling script.
usage() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }

# preset_of BUILD: the CMake preset of a build folder below build/.
preset_of() {
  case $1 in
    host | portable | dpcpp-jit | dpcpp | adaptivecpp | tsan) echo "$1" ;;
    asan) echo asan-ubsan ;;
    *) fail "There is no build \"$1\": use host, dpcpp-jit, asan or tsan, or dpcpp and adaptivecpp with their compilers." ;;
  esac
}

# Shows what ninja does: one line that is overwritten on a terminal, only the last one elsewhere; errors in full.
show_progress() {
  local line last='' clear=''
  [[ ! -t 2 ]] || clear=$'\r\e[K'
  while IFS= read -r line; do
    case $line in
      *'Re-checking globbed'* | *'Entering directory'* | *'no work to do'* | '-- '*) ;;
      '['[0-9]*/[0-9]*'] '*)
        last=$line
        [[ -z $clear ]] || printf '%s%s' "$clear" "${line:0:${COLUMNS:-100}}" >&2
        ;;
      *)
        say "$clear$line"
        last=
        ;;
    esac
  done
  [[ -z $last ]] || say "$clear$last"
}

# build_targets BUILD TARGET...: sets up, configures and builds what is out of date; silent when nothing is.
build_targets() {
  local build=$1 preset folder log
  shift
  preset=$(preset_of "$build")
  folder=$root/build/$build
  # A Python environment that came later brings the Python module.
  if [[ ! -f $folder/build.ninja || $root/.venv/.installed -nt $folder/build.ninja ]]; then
    if [[ $build == dpcpp-jit ]]; then "$root/tools/setup" --python; else "$root/tools/setup"; fi
    say "Configuring $build in build/$build"
    log=$(cd "$root" && cmake --preset "$preset" 2>&1) || fail "$log"
    touch "$folder/build.ninja"
  fi
  # One build at a time in a folder; ninja itself doesn't guard it.
  (
    flock 9
    ninja -C "$folder" -j "$(nproc)" "$@" 2>&1 | show_progress
  ) 9>"$folder/.lock"
}

# The dpcpp-jit program can't start without the libraries it was linked with, and the loader's message has no remedy.
check_dpcpp_runtime() {
  local folder
  folder=$(sed -n 's/^DUCTILE_DPCPP_ROOT:[A-Z]*=//p' "$root/build/dpcpp-jit/CMakeCache.txt" 2>/dev/null || true)
  [[ -z $folder || -e $folder/lib/libsycl.so ]] || {
    say "The DPC++ runtime that the dpcpp-jit back end was built with is no longer in $folder." \
      "Install it again with \`tools/setup --python\`, or use the host back end (--backend host)."
    exit 3
  }
}
