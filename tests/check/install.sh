# Functions that install what the checks need. The script that reads this file decides what is needed.
#
#     need PACKAGE[,PACKAGE] TOOL...    notes Debian's packages if a tool is not there; a tool is a command or a file
#     install_packages                  installs the noted packages where that is possible: as root on Debian
#     kept NAME VERSION COMMAND...      sets `place` to a directory that COMMAND DIRECTORY has filled, now or before
#     keep NAME VERSION COMMAND...      also makes target/NAME a link to that directory
#     lacks NAME                        notes that NAME could not be installed
#
# INSTALL=no installs nothing. The kept directories of all checkouts are in one directory, because they take two
# gigabytes: GMON_TOOLS, by default gmon-tools in the user's directory of caches.
case ${INSTALL:-yes} in
yes) may_install() { true; } ;;
no) may_install() { false; } ;;
*) echo "check: INSTALL=$INSTALL is neither yes nor no" >&2; exit 2 ;;
esac
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
tools=${GMON_TOOLS:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/gmon-tools}
# One name in each line.
lacking=$target/check/lacking
mkdir -p "$target/check"
packages=

lacks() { printf '%s\n' "$1" >>"$lacking"; }

has() { command -v "$1" >/dev/null 2>&1 || [ -e "$1" ]; }

need() {
    needed=$1
    shift
    for tool; do
        has "$tool" || { packages="$packages $needed:$tool" && return; }
    done
}

# Another process may hold the lock of Debian's packages, and a server may be out of reach for a moment: each attempt
# waits.
apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"; }
attempt() { # attempt COMMAND...: three times, with a pause before the second and the third
    "$@" && return
    sleep "${PAUSE:-10}"
    "$@" && return
    sleep "${PAUSE:-10}"
    "$@"
}

install_packages() {
    [ -n "$packages" ] || return 0
    names=$(printf '%s\n' $packages | sed -e 's/:.*//' -e 's/,/\n/g' | sort -u | tr '\n' ' ')
    if may_install && [ "$(id -u)" = 0 ] && has apt-get; then
        echo "Installing these Debian packages (INSTALL=no installs nothing): $names"
        attempt apt update || true
        # One package that this system lacks must not prevent the installation of the others.
        attempt apt install -y --no-install-recommends $names || for name in $names; do
            apt install -y --no-install-recommends "$name" || true
        done
    fi
    for noted in $packages; do
        has "${noted##*:}" || lacks "${noted##*:}"
    done
}

kept() {
    name=$1 version=$2
    shift 2
    mkdir -p "$tools/$name" 2>/dev/null || tools=$target/kept
    place=$tools/$name/$version
    mkdir -p "$tools/$name"
    (
        # Two checks at the same time fill a directory once.
        ! has flock || flock 9
        if ! [ -e "$place/complete" ]; then
            may_install || exit 1
            echo "Installing $name into $place"
            rm -rf "$place"
            mkdir -p "$place"
            "$@" "$place" || exit 1
            : >"$place/complete"
        fi
    ) 9>"$place.lock"
}

keep() {
    kept "$@" || { lacks "$1"; return 1; }
    mkdir -p "$(dirname "$target/$name")"
    link "$place" "$target/$name"
}

link() { # link DIRECTORY NAME: makes NAME a link, also where an earlier version of these scripts left a directory
    [ -L "$2" ] || rm -rf "${2:?}"
    ln -sfn "$1" "$2"
}

# A short name for the content of a file without its comments, for versions.
digest() { sed '/^#/d' "$1" | sha256sum | cut -c 1-16; }
