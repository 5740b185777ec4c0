# Functions for scripts that run the steps of a check. `logs` names the directory of their output.
#
#     step NAME COMMAND...    runs a command; prints how long the command took, and its output
#     lanes FUNCTION...       runs functions of steps beside each other
#     wait_for NAME...        waits until these steps of other lanes have ended; fails if one has failed or does not
#                             come
#     finish                  waits for all lanes; fails, with the names, if a step has failed
#
# After a failed step, the function of the lane decides whether to run the next step. The other lanes continue, so one
# run shows many failures.
logs=${CARGO_TARGET_DIR:-target}/check
rm -rf "$logs"
mkdir -p "$logs"
logs=$(cd "$logs" && pwd)
pids=

# The file that says how a step has ended.
ended() { printf '%s/%s.ended' "$logs" "$(printf '%s' "$1" | tr ' /' '__')"; }

step() {
    title=$1
    shift
    log=$(ended "$title").log
    printf -- '-- %s …\n' "$title"
    began=$(date +%s)
    if "$@" >"$log" 2>&1 </dev/null; then status=0; else status=$?; fi
    took=$(($(date +%s) - began))
    # One write, so that the output of two lanes does not mix.
    {
        printf '\n== %s … %d s\n' "$title" "$took"
        cat "$log"
        [ "$status" = 0 ] || printf 'check: the step "%s" has failed (exit status %d)\n' "$title" "$status"
    } >"$log.shown"
    cat "$log.shown"
    rm -f "$log.shown"
    printf '%5d s  %s\n' "$took" "$title" >>"$logs/times"
    [ "$status" = 0 ] || echo "$title" >>"$logs/failed"
    echo "$status" >"$(ended "$title").new"
    mv "$(ended "$title").new" "$(ended "$title")"
    return "$status"
}

lanes() {
    all_lanes=$*
    for lane; do
        (
            "$lane" || true
            # Whoever waits for a step that has not begun learns that the step will not come.
            echo end >"$(ended "lane $lane")"
        ) &
        pids="$pids $!"
    done
}

# Whether a lane but this one may still run its steps.
any_lane_runs() {
    for name in $all_lanes; do
        [ "$name" = "$lane" ] || [ -e "$(ended "lane $name")" ] || return 0
    done
    return 1
}

wait_for() {
    for title; do
        until [ -e "$(ended "$title")" ]; do
            any_lane_runs || [ -e "$(ended "$title")" ] || {
                # Nobody has failed, but what waits here does not run either.
                echo "$title, which was left out" >>"$logs/failed"
                return 1
            }
            sleep 0.2
        done
        [ "$(cat "$(ended "$title")")" = 0 ] || { echo "check: the step \"$title\" has failed" >&2; return 1; }
    done
}

finish() {
    for pid in $pids; do
        wait "$pid" || true
    done
    [ ! -e "$logs/failed" ] || {
        echo "check: these steps have failed; their output is above and in $logs:" >&2
        sed 's/^/    /' "$logs/failed" >&2
        return 1
    }
}

# The children end with the script.
trap 'kill $pids 2>/dev/null; exit 130' INT
trap 'kill $pids 2>/dev/null; exit 143' TERM
trap 'kill $pids 2>/dev/null; exit 129' HUP
