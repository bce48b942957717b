#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# LightGBM's own MPI build, from its source archive, with Open MPI's compilers: trained with 2, 3 and 4 ranks by each way of dividing the work,
# ranks killed. What it logs and each rank's model are those under Open MPI's mpirun. Not in the gate: the build takes a quarter of an hour.
#
#     mpi_build.sh FTRUN DIRECTORY [SEEDS]
#
# DIRECTORY keeps the archive and the build. SEEDS: for each number of ranks and way, 10 if not given. cmake is to be 3.28 or later.
set -eu
programs=$(cd "$(dirname "$0")/.." && pwd)
ftrun=$(realpath "$1")
seeds=${3:-10}
release=lightgbm-4.6.0
mkdir -p "$2"
cd "$2"
[ -d $release ] || {
    [ -e $release.tar.gz ] || python3 -m pip -q download --no-deps --no-binary :all: lightgbm==4.6.0
    tar -xf $release.tar.gz
}
[ -x build/bin/lightgbm ] || {
    cmake -S $release -B build -DUSE_MPI=ON -DCMAKE_C_COMPILER=mpicc.openmpi -DCMAKE_CXX_COMPILER=mpicxx.openmpi \
        -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/bin"
    make -C build -j2 lightgbm
}
[ -e train.tsv ] || python3 - >train.tsv <<'END'
import random
chance = random.Random(1)
for _ in range(6000):
    x = [chance.gauss(0, 1) for _ in range(20)]
    label = int(x[0] * x[1] + x[2] + 0.5 * chance.gauss(0, 1) > 0)
    print(label, *('%.6f' % value for value in x), sep='\t')
END
export OMP_WAIT_POLICY=passive # more threads than cores
failed=0
for ranks in 2 3 4; do
    for learner in data feature voting; do
        echo "$ranks ranks, $learner"
        cat >train.conf <<END
task = train
objective = binary
metric = auc
is_training_metric = true
data = train.tsv
tree_learner = $learner
num_machines = $ranks
num_threads = 2
num_trees = 100
num_leaves = 31
bagging_fraction = 0.8
bagging_freq = 3
deterministic = true
force_row_wise = true
END
        python3 "$programs/killed.py" --ftrun "$ftrun" --mpirun mpirun.openmpi --ranks $ranks --runs "$seeds" --seed ${ranks}000 --option=--snapshot --option=0.2 \
            --input train.conf --input train.tsv --file 'model.*' --blank '^.* seconds.*' -- \
            "$PWD/build/bin/lightgbm" config=train.conf 'output_model=model.{rank}' || failed=1
    done
done
exit $failed
