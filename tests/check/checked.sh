# Functions for checks that need to run only if files have changed.
#
#     was_checked NAME FILE...    whether the check has succeeded with the contents that the files have now; the file -
#                                 is standard input
#     record_check                notes that the check of the last was_checked has succeeded
#
# tests/check/checked has a line NAME DIGEST for each check. Commit the file after a check has changed it: then the
# check need not run again, also not in other clones.
checked=tests/check/checked

was_checked() {
    checked_name=$1
    shift
    checked_digest=$(for file; do printf '%s\n' "$file" && cat "$file" || exit; done | sha256sum | cut -c 1-64)
    grep -q -x -F "$checked_name $checked_digest" "$checked"
}

record_check() {
    { grep -v "^$checked_name " "$checked" || true; echo "$checked_name $checked_digest"; } | LC_ALL=C sort >"$checked.new"
    cat "$checked.new" >"$checked"
    rm -f "$checked.new"
    echo "The check \"$checked_name\" has succeeded, so $checked has changed: commit it."
}
