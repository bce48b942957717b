#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The launcher's pod of mpi-operator v2beta1: workers are in its host file, their sshds listen at port 2222, as examples/kubernetes has it, and
# names and sshds come after the launcher does. One comes back with another address. (Pods are network namespaces; a name is known when it
# is in the lab's list.)
. "$(dirname "$0")/../lib/test.sh"
uses lab
lab_enter "$0" "$@"
if [ "$(id -u)" != 0 ] || ! [ -x /usr/sbin/sshd ]; then skip "no sshd (package openssh-server), or not root"; fi
lab boot h1 h2
lab_keys
image=$top_srcdir/examples/kubernetes
sed "s|/home/mpiuser/.ssh/id_rsa|$LAB/ssh/host|; s|/home/mpiuser/.ssh/authorized_keys|$LAB/ssh/user.pub|" "$image/sshd_config" >"$LAB/ssh/sshd_config"
{ cat "$image/ssh_config" && echo "    IdentityFile $LAB/ssh/user"; } >"$LAB/ssh/ssh_config"

named() { echo "10.77.0.$1 pi-worker-$(($1 - 1)).pi.default.svc" >>"$LAB/hosts"; }
# shellcheck disable=SC2016
listens() { lab in "h$1" sh -c 'mount --bind "$1/ssh" /etc/ssh && exec /usr/sbin/sshd -f "$1/ssh/sshd_config"' - "$LAB"; }

printf 'pi-worker-%d.pi.default.svc slots=2\n' 0 1 >"$tmp/hostfile"
export K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_keep_fqdn_hostnames=true OMPI_MCA_orte_default_hostfile=$tmp/hostfile
export OMPI_MCA_plm_rsh_args="-o ConnectionAttempts=2" KUBERNETES_SERVICE_HOST=10.96.0.1
through=''
named 1
listens 1
# shellcheck disable=SC2016
begin -v sh -c 'echo $FTMPI_RANK $(hostname)'
# Its name is not known; then nobody listens there.
started() { [ "$(grep -c 'node 1 starts on pi-worker-1' "$tmp/err")" -ge "$1" ]; }
wait_for started 2
named 2
wait_for started 4
listens 2
ended 60
expect_code 0
sorted && expect_out "0 h1" "1 h1" "2 h2" "3 h2"
expect_err "hosts are those of $tmp/hostfile (OMPI_MCA_orte_default_hostfile)"

# A worker's pod is lost, and comes back under its name with another address.
begin --survive host --wait-for-host 60 "$top_builddir/compat-tests/control/waits" file 0 "$tmp/end" 20
wait_for grep -q '20 allreduces' "$tmp/out"
lab kill h2
sed '/pi-worker-1/d' "$LAB/hosts" >"$tmp/left" && cat "$tmp/left" >"$LAB/hosts"
wait_for told 'host pi-worker-1.* \(is gone\|has not been heard\)'
lab boot h3
echo "10.77.0.3 pi-worker-1.pi.default.svc" >>"$LAB/hosts"
listens 3
: >"$tmp/end"
ended 60
expect_code 0
[ "$(grep -c allreduces "$tmp/out")" = 2 ] || fail "$what: $(cat "$tmp/out")"

# Outside of Kubernetes a name that is not known is no reason to wait.
sed '/pi-worker-1/d' "$LAB/hosts" >"$tmp/left" && cat "$tmp/left" >"$LAB/hosts"
unset KUBERNETES_SERVICE_HOST
run true
expect_code 1
expect_err_lines 1
expect_err 'pi-worker-1.*Could not resolve hostname.*exit code 255); the job is ended'
nothing_on h1 h3
finish
