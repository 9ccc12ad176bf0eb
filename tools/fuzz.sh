# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Fuzzing, for ./dev fuzz. Sourced.

fuzz_packages=(clang-16 libclang-rt-16-dev)
fuzz_targets=(config headers replies resp rows templates times urls)
fuzz_found=build-fuzz/found

# A number of seconds from 90, 90s, 5min or 1h.
fuzz_seconds() {
    case $1 in
        *[!0-9]*min | *[!0-9]*h | *[!0-9]*s) return 1 ;;
        *min) echo $((10#${1%min} * 60)) ;;
        *h) echo $((10#${1%h} * 3600)) ;;
        *s) echo $((10#${1%s})) ;;
        *) [[ $1 =~ ^[0-9]+$ ]] && echo $((10#$1)) ;;
    esac
}

# Keeps an input that libFuzzer has made in the target's corpus only if it is small and new.
fuzz_keep_corpus() {
    local target=$1 grown=$2
    echo "To keep what is new: build-fuzz/pawl_fuzz -merge=1 -max_len=512" \
        "tests/fuzz/corpus/$target $grown   (with PAWL_FUZZ_TARGET=$target)"
}

fuzz_explain() {
    local target=$1 input again
    again="PAWL_FUZZ_TARGET=$target build-fuzz/pawl_fuzz"
    for input in "$fuzz_found/$target"/{crash,oom,timeout,leak}-*; do
        [[ -e $input ]] || continue
        cat >&2 <<TEXT
The target '$target' fails with $input.
  see it again      $again $input
  make it smaller   $again -minimize_crash=1 -runs=10000 $input
  when it is mended, move it to tests/fuzz/corpus/$target/, where ./dev test replays it
TEXT
    done
}

# TARGET SECONDS
fuzz_target() {
    local target=$1 seconds=$2 status=0 grown=build-fuzz/corpus/$1 longest=4096
    mkdir -p "$grown" "$fuzz_found/$target"
    say "Fuzzing '$target' for $seconds s"
    PAWL_FUZZ_TARGET=$target nice -n 10 build-fuzz/pawl_fuzz "$grown" "tests/fuzz/corpus/$target" \
        -max_total_time="$seconds" -max_len="$longest" -timeout=20 -rss_limit_mb=1024 \
        -malloc_limit_mb=64 -artifact_prefix="$fuzz_found/$target/" -print_final_stats=1 ||
        status=$?
    if ((status != 0)); then
        fuzz_explain "$target"
        return 1
    fi
    fuzz_keep_corpus "$target" "$grown"
}

command_fuzz() {
    local chosen=() seconds=60 target failed=()
    while (($# > 0)); do
        case $1 in
            --for)
                seconds=$(fuzz_seconds "${2:-}") ||
                    fail "'${2:-}' is no time for --for; use 90s, 5min or 1h."
                shift
                ;;
            *)
                [[ " ${fuzz_targets[*]} " == *" $1 "* ]] ||
                    fail "There is no target '$1'; there are: ${fuzz_targets[*]}."
                chosen+=("$1")
                ;;
        esac
        shift
    done
    ((${#chosen[@]} > 0)) || chosen=("${fuzz_targets[@]}")
    need_packages "${build_packages[@]}" "${fuzz_packages[@]}"
    build_preset fuzz pawl_fuzz
    for target in "${chosen[@]}"; do
        fuzz_target "$target" "$seconds" || failed+=("$target")
    done
    ((${#failed[@]} == 0)) || fail "Fuzzing found something in: ${failed[*]}."
    say "Nothing was found."
}
