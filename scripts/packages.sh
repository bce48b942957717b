# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# Sourced by the other scripts: which Debian packages what needs, and need(), which installs the missing ones.

packages_build="gcc g++ make autoconf automake libtool pkg-config libhwloc-dev libevent-dev libjansson-dev libxxhash-dev libssl-dev libcurl4-openssl-dev"
packages_train="python3-xgboost dataset-fashion-mnist"
packages_wheel="python3-venv python3-pip python3-numpy python3-scipy"
packages_check="libcriterion-dev gfortran python3-mpi4py libopenmpi-dev openmpi-bin mpich libmpich-dev clang binutils strace spin shellcheck git cmake gdb valgrind procps python3 man-db gnuplot-nox iproute2 nftables openssh-server openssh-client redis-server postgresql python3-redis python3-psycopg2 python3-torch python3-sklearn python3-jsonschema python3-yaml libopenblas0-pthread libomp-dev slurm-wlm munge etcd-server curl openssl"

# without_services COMMAND...: Debian's way to say that no package starts a daemon while it is installed (Slurm's, munge's, PostgreSQL's). Tests
# start their own. Where somebody has said already what may start, that stays.
without_services() {
  policy=/usr/sbin/policy-rc.d
  if [ -e $policy ]; then
    $as_root "$@"
    return
  fi
  # shellcheck disable=SC2016 # the other shell expands it
  $as_root sh -c 'trap "rm -f $0" EXIT; trap "exit 1" INT TERM HUP; printf "#!/bin/sh\nexit 101\n" >"$0" && chmod 755 "$0" && "$@"' $policy "$@"
}

# need PACKAGE...: afterwards all of them are installed. Asks nothing; touches apt only if something is missing.
need() {
  missing=
  for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
    [ "$state" = installed ] || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0

  as_root=
  if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    [ -t 0 ] || as_root="sudo -n" # nobody there to type a password
    if ! command -v sudo >/dev/null 2>&1; then
      echo "$(basename "$0"): packages are missing and there is no sudo; as root: apt-get install$missing" >&2
      return 1
    fi
  fi
  echo "installing$missing"
  install_log=$(mktemp)
  # shellcheck disable=SC2086
  if $as_root apt-get -q update >"$install_log" 2>&1 &&
    without_services env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing >>"$install_log" 2>&1 </dev/null; then
    rm -f "$install_log"
    return 0
  fi
  tail -n 20 "$install_log" >&2
  rm -f "$install_log"
  echo "$(basename "$0"): installing failed (above); needed:$missing" >&2
  return 1
}
