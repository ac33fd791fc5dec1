#!/bin/sh
# Runs a Windows program in Wine with a screen of its own: launch.sh ROOT DIRECTORY WINE PROGRAM [ARGUMENT...]
# ROOT is "/" for the Wine of this machine, else a directory with a system in it, and the shell that runs this has
# mount points of its own (unshare --mount). Wine finds Vulkan through its X11 driver, hence a screen.
set -eu
root=$1
directory=$2
shift 2

inside() {
    if [ "$root" = / ]; then "$@"; else chroot "$root" "$@"; fi
}

if [ "$root" != / ]; then
    mount --rbind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
fi
number=$(mktemp)
inside Xvfb -displayfd 3 -screen 0 64x64x24 -nolisten tcp 3>"$number" >/dev/null 2>&1 &
screen=$!
trap 'kill $screen 2>/dev/null || true; rm -f "$number"' EXIT
while [ ! -s "$number" ]; do
    if ! kill -0 $screen 2>/dev/null; then
        echo "Xvfb did not start" >&2
        exit 10
    fi
    sleep 0.02
done
export DISPLAY=":$(cat "$number")"
cd "$root$directory"
status=0
if [ "$root" = / ]; then "$@" || status=$?; else chroot "$root" /usr/bin/env --chdir="$directory" "$@" || status=$?; fi
exit $status
