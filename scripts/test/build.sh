#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scripts/build.sh configures a tree once, and again when a package was installed since, with the arguments it had. (scripts/quickstart.sh builds before
# scripts/check.sh installs Criterion: its tests were skipped, so the two commands of the README, one after the other on a new machine, failed.)
scripts=$(cd "${top_srcdir:-.}/scripts" && pwd)
here=$(mktemp -d) || exit 99
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 99
failed=0

# A tree whose configure and config.status only note that they ran.
touch configure.ac installed
cat >configure <<'END'
#!/bin/sh
echo "configured $*" >>../ran
printf 'all:\n' >Makefile
printf '#!/bin/sh\necho "again $*" >>../ran\ntouch config.status\n' >config.status
chmod +x config.status
END
chmod +x configure
touch -d '-3 seconds' configure.ac installed

# shellcheck disable=SC1091
. "$scripts/build.sh"
# shellcheck disable=SC2034
packages_state=$here/installed
expect() {
    build_in build --with-it || failed=1
    [ "$(cat ran)" = "$1" ] || { echo "FAIL: $2: $(cat ran)" && failed=1; }
}
expect "configured --with-it" "a new tree"
expect "configured --with-it" "nothing has changed"
touch -d '+1 second' installed
expect "configured --with-it
again --recheck
again " "a package was installed"
touch -d '-1 second' installed
expect "configured --with-it
again --recheck
again " "that is known now"

# quickstart.sh --build does so much and no more: it was minutes of XGBoost before the README's first program could be tried.
mkdir scripts
cp "$scripts/quickstart.sh" scripts
# shellcheck disable=SC2016
printf 'packages_build="a b" packages_train=c\nneed() { echo "needs $*"; }\n' >scripts/packages.sh
# shellcheck disable=SC2016
printf 'build_in() { echo "builds in $1"; }\n' >scripts/build.sh
said=$(sh scripts/quickstart.sh --build) || { echo "FAIL: quickstart.sh --build: exit code $?" && failed=1; }
[ "$(echo "$said" | grep -E '^(needs|builds)')" = "needs a b
builds in build" ] || { echo "FAIL: quickstart.sh --build: $said" && failed=1; }
exit $failed
