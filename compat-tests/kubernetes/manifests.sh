#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash
# The manifests of examples/kubernetes are such as Kubernetes and its operators take, and what is not is found; the image has all that ftmpi is
# built with, and all that it is linked with.
. "$(dirname "$0")/../lib/test.sh"
examples=$top_srcdir/examples/kubernetes
/usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null || skip "python3-jsonschema or python3-yaml is missing"
check() { /usr/bin/python3 "$here/manifests.py" "$built/schema" "$@" >"$tmp/out" 2>"$tmp/err"; }
check "$examples"/*.yaml || { code=$? && [ $code != 77 ] || skip "$(cat "$tmp/err")"; fail "$(cat "$tmp/out")"; }
[ "$(cat "$examples"/*.yaml | grep -c '^kind: ')" = 10 ] || fail "not ten objects"

# wrong FILE SED-COMMAND SAID: the manifest, changed so, is refused with such a line.
mkdir "$tmp/wrong"
wrong() {
    sed "$2" "$examples/$1" >"$tmp/wrong/$1"
    ! cmp -s "$examples/$1" "$tmp/wrong/$1" || fail "$2 changes nothing in $1"
    echo "$1: $3" >>"$tmp/expected"
}
wrong xgboostjob-v1.yaml 's/mountPath:/mountpath:/' ".*'mountpath' was unexpected"
wrong pytorchjob-v1.yaml 's/nprocPerNode: "2"/nprocPerNode: 2/' 'PyTorchJob spec.nprocPerNode: 2 is not'
wrong mpijob-v2beta1.yaml 's/restartPolicy: OnFailure/restartPolicy: ExitCode/' ".*'ExitCode' is not one of"
wrong trainjob-torch.yaml 's/numNodes: 3/numNodes: three/' 'TrainJob spec.trainer.numNodes'
wrong trainjob-xgboost.yaml 's/- name: node/- names: node/' ".*'names' was unexpected"
wrong trainjob-mpi.yaml 's/status: Ready/status: Done/' "TrainingRuntime .*'Done' is not one of"
wrong jobset.yaml 's/action: RestartJob/action: RestartPod/' ".*'RestartPod' is not one of"
! check "$tmp"/wrong/* || fail "wrong manifests are taken"
while read -r line; do
    grep -q -e "/wrong/$line" "$tmp/out" || fail "no line like $line: $(cat "$tmp/out")"
done <"$tmp/expected"

# What they say to ftrun it understands.
sed -n 's/.*command: \[ftrun, \(.*\), python3, .*/\1/p' "$examples"/*.yaml | tr -d '",' | sort -u >"$tmp/options"
has_lines 3 "$tmp/options" || fail "few commands: $(cat "$tmp/options")"
while read -r options; do
    # shellcheck disable=SC2086
    call "$ftrun" $options --version
    expect_code 0
done <"$tmp/options"

# ---- docs/kubernetes.md ----
page=$top_srcdir/docs/kubernetes.md
for file in "$examples"/*.yaml; do grep -q "\`${file##*/}\`" "$page" || fail "docs/kubernetes.md does not name ${file##*/}"; done
# What it says is read is read; it says so of some that are not.
for variable in $(grep -o '\`[A-Z][A-Za-z]*_[A-Za-z_]*\`' "$page" | tr -d '\`' | sort -u); do
    case $variable in _PORT | MASTER_PORT | DMLC_TRACKER_PORT | OMPI_MCA_orte_keep_fqdn_hostnames) continue ;; esac
    grep -q "\"$variable\"" "$top_srcdir"/launcher/options/*.c "$top_srcdir/launcher/rdzv/settings.c" || fail "docs/kubernetes.md: nothing reads $variable"
done

# ---- the image ----
words() { tr -s ' \\\n' '\n' | grep . | sort -u; }
# shellcheck source=/dev/null
. "$top_srcdir/scripts/packages.sh"
# shellcheck disable=SC2154
echo "$packages_build" | words >"$tmp/needed"
sed -n '/^FROM debian:12 AS build/,/^COPY/s/^    //p' "$examples/Containerfile" | words | cmp -s - "$tmp/needed" ||
    fail "the image is not built with what scripts/packages.sh says"
# Each library that ftrun, or a rank, is linked with is of a package that is named; those that any Debian has are not.
if command -v dpkg objdump >/dev/null && [ -z "${sanitized-}" ]; then
    find "$top_builddir/compat-tests/moved here/ftmpi" -type f \( -perm -100 -o -name '*.so*' \) -exec objdump -p {} + 2>/dev/null |
        sed -n 's/^ *NEEDED *//p' | sort -u >"$tmp/libraries"
    sed -n 's/.*library\[\] = "\(.*\)".*/\1/p' "$top_srcdir/launcher/rdzv/curl.c" | tee -a "$tmp/libraries" | grep -q curl || fail "no libcurl"
    [ -s "$tmp/libraries" ] || fail "no libraries"
    while read -r library; do
        at=$(/sbin/ldconfig -p | sed -n "s/^[[:space:]]*$library .*=> //p" | head -n 1)
        package=$(dpkg -S "$(readlink -f "${at:-/nothing}")" 2>/dev/null | sed 's/:.*//')
        case $package in '' | libc6 | libgcc-s1 | libstdc++6) continue ;; esac
        words <"$examples/Containerfile" | grep -qx "$package" || fail "the image lacks $package, for $library"
    done <"$tmp/libraries"
fi
for file in sshd_config ssh_config; do grep -q "$file" "$examples/Containerfile" || fail "$file is not in the image"; done
finish
