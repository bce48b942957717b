// SPDX-License-Identifier: BSD-3-Clause
// The C++ binding (removed in MPI 3.0, still in 89 Debian packages): Debian's libmpi_cxx over our library. What it prints, line
// by line with the rank in front, must be the same in every run; the rank that $VICTIM names kills itself in the middle, in its
// first life.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void add(const void *in, void *inout, int len, const MPI::Datatype &type)
{
    if (type != MPI::DOUBLE)
        MPI::COMM_WORLD.Abort(3);
    for (int i = 0; i < len; i++)
        static_cast<double *>(inout)[i] += static_cast<const double *>(in)[i];
}

static int noted, deleted;
static void note(MPI::Comm &comm, int *code, ...) { noted = comm.Get_size() > 0 ? *code : -1; }

static int forget(MPI::Comm &, int, void *value, void *extra)
{
    deleted = *static_cast<int *>(value) + *static_cast<int *>(extra);
    return MPI::SUCCESS;
}

static int keep(const MPI::Comm &, int, void *extra, void *in, void *out, bool &flag)
{
    *static_cast<void **>(out) = static_cast<int *>(in) + *static_cast<int *>(extra);
    flag = true;
    return MPI::SUCCESS;
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    MPI::Op op;
    const char *victim = std::getenv("VICTIM"), *incarnation = std::getenv("FTMPI_INCARNATION");
    bool dies = victim && incarnation && std::atoi(victim) == rank && std::atoi(incarnation) == 0;
    op.Init(add, true);

    for (int round = 1; round <= ROUNDS; round++) {
        std::vector<double> x(1000), y(1000);
        for (int i = 0; i < 1000; i++)
            x[i] = rank + i + round;
        MPI::COMM_WORLD.Allreduce(&x[0], &y[0], 1000, MPI::DOUBLE, MPI::SUM);
        MPI::COMM_WORLD.Allreduce(MPI::IN_PLACE, &x[0], 1000, MPI::DOUBLE, op);
        if (round == ROUNDS / 2 && dies)
            std::raise(SIGKILL);
        if (x != y)
            std::printf("%d own operation differs in round %d\n", rank, round);
        MPI::COMM_WORLD.Reduce(rank == 0 ? MPI::IN_PLACE : &x[0], &x[0], 1000, MPI::DOUBLE, MPI::MAX, 0);
        if (x != y)
            std::printf("%d reduce differs in round %d\n", rank, round);
        int value = rank == size - 1 ? round : 0;
        MPI::COMM_WORLD.Bcast(&value, 1, MPI::INT, size - 1);
        std::vector<int> all(size);
        MPI::COMM_WORLD.Allgather(&rank, 1, MPI::INT, &all[0], 1, MPI::INT);
        for (int r = 0; r < size; r++)
            if (all[r] != r)
                std::printf("%d allgather differs\n", rank);
        if (round % 100 == 0)
            std::printf("%d round %d: %d %g\n", rank, round, value, y[999]);
        MPI::COMM_WORLD.Barrier();
    }
    op.Free();

    int extra = 1000, value = 7 + rank, *found = nullptr;
    int key = MPI::Comm::Create_keyval(MPI::Comm::NULL_COPY_FN, forget, &extra);
    MPI::COMM_WORLD.Set_attr(key, &value);
    bool flag = MPI::COMM_WORLD.Get_attr(key, &found);
    std::printf("%d attribute %d %d\n", rank, flag, found ? *found : -1);
    MPI::COMM_WORLD.Delete_attr(key);
    std::printf("%d deleted with %d\n", rank, deleted);
    MPI::Comm::Free_keyval(key);

    int values[] = {rank, 10 * rank}, next = 1, sum = 0;
    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, -rank);
    key = MPI::Comm::Create_keyval(keep, forget, &next);
    half.Set_attr(key, values);
    MPI::Intracomm twin = half.Dup();
    flag = twin.Get_attr(key, &found);
    std::printf("%d attribute of the duplicate %d %d\n", rank, flag, found ? *found : -1);
    twin.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
    std::printf("%d sum in the half %d, congruent %d\n", rank, sum, MPI::Comm::Compare(half, twin) == MPI::CONGRUENT);
    twin.Free();
    if (size > 1) {
        int leader = (size - 1) % 2 == rank % 2 ? size - 2 : size - 1;
        MPI::Intercomm two = half.Create_intercomm(0, MPI::COMM_WORLD, leader, 5);
        two.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
        MPI::Intracomm one = two.Merge(rank % 2 == 1);
        std::printf("%d of the other half %d, sum %d, inter %d, rank of all %d\n", rank, two.Get_remote_size(), sum, two.Is_inter(), one.Get_rank());
        one.Free();
        two.Free();
    }
    half.Free();
    std::printf("%d deleted with %d, null %d\n", rank, deleted, twin == MPI::COMM_NULL);
    MPI::Comm::Free_keyval(key);

    // libmpi_cxx as Debian builds it does not throw: it notes the error.
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::COMM_WORLD.Bcast(&value, 1, MPI::INT, 999);
    std::printf("%d noted %d\n", rank, MPI_ERR_ROOT == MPI::mpi_errno);
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(note);
    MPI::COMM_WORLD.Set_errhandler(handler);
    handler.Free();
    MPI::COMM_WORLD.Bcast(&value, -1, MPI::INT, 0);
    std::printf("%d handler %d\n", rank, noted == MPI_ERR_COUNT);
    noted = 0;
    char port[MPI::MAX_PORT_NAME];
    MPI::Open_port(MPI::INFO_NULL, port);
    std::printf("%d no ports %d\n", rank, MPI::Get_error_class(noted) == MPI_ERR_UNSUPPORTED_OPERATION);
    MPI::Finalize();
    return 0;
}
