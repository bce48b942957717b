// SPDX-License-Identifier: BSD-3-Clause
// Messages by the C++ binding: Debian's libmpi_cxx over our library. As messages.f90.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

static int query(void *extra, MPI::Status &status)
{
    status.Set_elements(MPI::INT, *static_cast<int *>(extra));
    status.Set_cancelled(false);
    status.Set_source(4);
    status.Set_tag(11);
    return MPI::SUCCESS;
}

static int release(void *extra) { return ++*static_cast<int *>(extra), MPI::SUCCESS; }
static int cancel(void *extra, bool complete) { return *static_cast<int *>(extra) += complete ? 1000 : 100, MPI::SUCCESS; }

static int noted;
static void note(MPI::Comm &, int *code, ...) { noted = *code; }

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intracomm &world = MPI::COMM_WORLD;
    int rank = world.Get_rank(), size = world.Get_size(), next = (rank + 1) % size, before = (rank + size - 1) % size;
    const char *victim = std::getenv("VICTIM"), *incarnation = std::getenv("FTMPI_INCARNATION");
    bool dies = victim && incarnation && std::atoi(victim) == rank && std::atoi(incarnation) == 0;
    int sent[100], got[4][100], indices[4];
    MPI::Request r[4];
    MPI::Status s, ss[4];

    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < 100; i++)
            sent[i] = rank * 1000 + round;
        r[0] = world.Irecv(got[0], 100, MPI::INT, before, 5);
        world.Send(sent, 100, MPI::INT, next, 5);
        r[0].Wait(s);
        if (round == ROUNDS / 2 && dies)
            std::raise(SIGKILL);
        if (r[0] != MPI::REQUEST_NULL || s.Get_count(MPI::INT) != 100 || s.Get_source() != before || got[0][99] != before * 1000 + round)
            std::printf("%d a message differs in round %d\n", rank, round);
        for (int i = 0; i < 4; i++)
            r[i] = world.Irecv(got[i], 100, MPI::INT, MPI::ANY_SOURCE, i);
        for (int i = 3; i >= 0; i--)
            world.Ssend(sent, i, MPI::INT, next, i);
        int index = MPI::Request::Waitany(4, r, s);
        if (s.Get_tag() != index || r[index] != MPI::REQUEST_NULL)
            std::printf("%d any differs in round %d\n", rank, round);
        int n = MPI::Request::Waitsome(4, r, indices, ss);
        for (int i = 0; i < n; i++)
            if (ss[i].Get_tag() != indices[i])
                std::printf("%d some differs in round %d\n", rank, round);
        MPI::Request::Waitall(4, r, ss);
        world.Sendrecv(sent, 7, MPI::INT, next, 9, got, 8, MPI::INT, before, 9);
        if (round % 25 == 0)
            std::printf("%d round %d: %d\n", rank, round, got[0][6]);
    }

    MPI::Prequest lasting[2] = {world.Recv_init(got, 1, MPI::INT, before, 6), world.Send_init(&rank, 1, MPI::INT, next, 6)};
    for (int i = 0; i < 3; i++) {
        MPI::Prequest::Startall(2, lasting);
        lasting[0].Wait();
        lasting[1].Wait();
    }
    std::printf("%d persistent %d\n", rank, got[0][0]);
    lasting[0].Free();
    lasting[1].Free();
    r[0] = world.Irecv(got, 1, MPI::INT, before, 7);
    std::printf("%d not yet %d\n", rank, !r[0].Test(s));
    r[0].Cancel();
    r[0].Wait(s);
    std::printf("%d cancelled %d\n", rank, s.Is_cancelled());
    int extra = 5;
    MPI::Grequest g = MPI::Grequest::Start(query, release, cancel, &extra);
    g.Cancel();
    std::printf("%d not complete %d\n", rank, !g.Test(s));
    g.Complete();
    g.Wait(s);
    std::printf("%d generalized %d %d %d %d\n", rank, s.Get_source(), s.Get_tag(), s.Get_count(MPI::INT), extra);
    world.Set_errhandler(MPI::Comm::Create_errhandler(note));
    world.Send(sent, 2, MPI::INT, rank, 1);
    world.Recv(got, 1, MPI::INT, rank, 1, s);
    std::printf("%d truncated %d\n", rank, noted == MPI::ERR_TRUNCATE);
    MPI::Finalize();
    return 0;
}
