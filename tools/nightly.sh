#!/bin/sh
# What takes too long for every change: each step runs, whatever the others say, and the last lines name those that failed.
set -u
cd "$(dirname "$0")/.."
bin=.venv/bin
minutes=${FUZZ_MINUTES:-5}
failed=""

step() {  # NAME COMMAND...
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed $name"
}

fuzz() {
    if ! cargo fuzz --version >/dev/null 2>&1 || ! rustup toolchain list 2>/dev/null | grep -q nightly; then
        echo "skipped: it needs cargo-fuzz and a nightly Rust: rustup toolchain install nightly && cargo install cargo-fuzz"
        return 0
    fi
    for target in fuzz/fuzz_targets/*.rs; do
        name=$(basename "$target" .rs)
        (cd fuzz && cargo +nightly fuzz run "$name" "seeds/$name" -- -max_total_time=$((minutes * 60)) -rss_limit_mb=1024) || return 1
    done
}

stubs() {
    $bin/python -m mypy.stubtest pileup._core._native --ignore-missing-stub
}

oldest() {
    folder=$(mktemp -d)
    $bin/python tools/oldest.py >"$folder/oldest.txt" &&
        python3 -m venv "$folder/venv" &&
        "$folder/venv/bin/pip" install --quiet --disable-pip-version-check maturin -c constraints.txt &&
        "$folder/venv/bin/pip" install --quiet --disable-pip-version-check -c "$folder/oldest.txt" ".[dev]" &&
        "$folder/venv/bin/pytest" -q -n 2 tests/unit tests/property -m "not timed and not long" -W default
    code=$?
    rm -rf "$folder"
    return $code
}

step "large property tests" env HYPOTHESIS_PROFILE=nightly $bin/pytest -q tests/property
step "the largest cases and the most repetitions" $bin/python tools/tests.py nightly -m nightly -n 4 tests/e2e tests/simulation
step "stubs of the engine" stubs
step "oldest dependencies" oldest
step "fuzzing ($minutes minutes each)" fuzz
if [ -n "$failed" ]; then
    echo "failed:$failed"
    exit 1
fi
