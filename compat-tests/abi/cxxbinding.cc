/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ binding, used as XGBoost 0.7 to 1.6 use it when they are built with their own MPI engine: everything in place on
   MPI::COMM_WORLD, types and operations passed as objects, custom reducers over contiguous types whose size they ask for
   inside. Compiles with Open MPI's binding too. With argument "die", ranks kill themselves on the way. */
#include <mpi.h>
#ifdef FTMPI
#include <ftmpi.h>
#endif
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#define CHECK(what) \
  do { \
    if (!(what)) { \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
      MPI::COMM_WORLD.Abort(3); \
    } \
  } while (0)

namespace {

int rank, size, reductions, die_in_reducer = -1;

int incarnation() {
  int n = 0;
#ifdef FTMPI
  MPIX_Incarnation(&n);
#endif
  return n;
}

void die_once(bool here) {
  if (here && incarnation() == 0) raise(SIGKILL);
}

/* The engine's own way of naming types and operations: by value. */
MPI::Datatype type_of(float) { return MPI::FLOAT; }
MPI::Datatype type_of(double) { return MPI::DOUBLE; }
MPI::Datatype type_of(char) { return MPI::CHAR; }
MPI::Datatype type_of(unsigned char) { return MPI::BYTE; }
MPI::Datatype type_of(int) { return MPI::INT; }
MPI::Datatype type_of(unsigned) { return MPI::UNSIGNED; }
MPI::Datatype type_of(long) { return MPI::LONG; }
MPI::Datatype type_of(unsigned long) { return MPI::UNSIGNED_LONG; }
MPI::Datatype type_of(long long) { return MPI::LONG_LONG; }
MPI::Datatype type_of(unsigned long long) { return MPI::UNSIGNED_LONG_LONG; }

template <class T>
void reduced(MPI::Op op, T (*want)(int)) {
  std::vector<T> v(1000);
  for (size_t i = 0; i < v.size(); i++) v[i] = static_cast<T>(rank + 1);
  MPI::COMM_WORLD.Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(v.size()), type_of(T()), op);
  for (size_t i = 0; i < v.size(); i++) CHECK(v[i] == want(size));
}

template <class T> T sum(int n) { return static_cast<T>(n * (n + 1) / 2); }
template <class T> T greatest(int n) { return static_cast<T>(n); }
template <class T> T least(int) { return static_cast<T>(1); }
template <class T> T bits(int n) {
  int all = 0;
  for (int i = 1; i <= n; i++) all |= i;
  return static_cast<T>(all);
}

template <class T> void arithmetic() {
  reduced<T>(MPI::SUM, sum<T>);
  reduced<T>(MPI::MAX, greatest<T>);
  reduced<T>(MPI::MIN, least<T>);
}

template <class T> void integral() {
  arithmetic<T>();
  reduced<T>(MPI::BOR, bits<T>);
}

/* Elements are opaque runs of bytes; the reducer learns their size from the datatype. Adds the first byte, keeps the
   larger of the last, and counts in the middle who took part. */
void reducer(const void *in, void *inout, int len, const MPI::Datatype &type) {
  int bytes = type.Get_size();
  const unsigned char *from = static_cast<const unsigned char *>(in);
  unsigned char *to = static_cast<unsigned char *>(inout);

  if (reductions++ == die_in_reducer) die_once(true);
  for (int i = 0; i < len; i++, from += bytes, to += bytes) {
    to[0] = static_cast<unsigned char>(to[0] + from[0]);
    if (bytes > 1 && to[bytes - 1] < from[bytes - 1]) to[bytes - 1] = from[bytes - 1];
    for (int k = 1; k < bytes - 1; k++) to[k] = static_cast<unsigned char>(to[k] | from[k]);
  }
}

/* One per reducer, as in the engine; the type is made anew whenever elements have another size. */
struct Handle {
  MPI::Op *op;
  MPI::Datatype *type;
  size_t made_for;

  Handle() : op(new MPI::Op()), type(NULL), made_for(0) {
    MPI::User_function *function = reducer;
    op->Init(function, true);
  }
  ~Handle() {
    op->Free();
    delete op;
    if (type) type->Free();
    delete type;
  }
  void make_type(size_t bytes) {
    if (made_for == bytes) return;
    if (type)
      type->Free();
    else
      type = new MPI::Datatype();
    if (bytes % 8 == 0)
      *type = MPI::LONG.Create_contiguous(static_cast<int>(bytes / sizeof(long)));
    else if (bytes % 4 == 0)
      *type = MPI::INT.Create_contiguous(static_cast<int>(bytes / sizeof(int)));
    else
      *type = MPI::CHAR.Create_contiguous(static_cast<int>(bytes));
    type->Commit();
    made_for = bytes;
    CHECK(static_cast<size_t>(type->Get_size()) == bytes);
  }
  void allreduce(size_t bytes, size_t count) {
    std::vector<unsigned char> v(bytes * count);
    int all = 0;

    make_type(bytes);
    for (int r = 0; r < size; r++) all |= 1 << (r & 7);
    for (size_t i = 0; i < count; i++) {
      memset(&v[i * bytes], 1 << (rank & 7), bytes);
      v[i * bytes + bytes - 1] = static_cast<unsigned char>(rank + static_cast<int>(i));
      v[i * bytes] = static_cast<unsigned char>(rank + 1);
    }
    MPI::COMM_WORLD.Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(count), *type, *op);
    for (size_t i = 0; i < count; i++) {
      CHECK(v[i * bytes] == sum<unsigned char>(size));
      if (bytes > 2) CHECK(v[i * bytes + 1] == static_cast<unsigned char>(all));
      if (bytes > 1 && size + static_cast<int>(count) < 255)
        CHECK(v[i * bytes + bytes - 1] == static_cast<unsigned char>(size - 1 + static_cast<int>(i)));
    }
  }
};

void broadcasts() {
  for (int root = 0; root < size; root++) {
    std::string text = rank == root ? "from " + std::string(static_cast<size_t>(3 + root), 'x') : "";
    size_t length = text.size();
    MPI::COMM_WORLD.Bcast(&length, sizeof length, MPI::CHAR, root);
    text.resize(length);
    MPI::COMM_WORLD.Bcast(&text[0], static_cast<int>(length), MPI::CHAR, root);
    CHECK(text == "from " + std::string(static_cast<size_t>(3 + root), 'x'));
  }
}

/* The collectives beyond what the engine uses. */
void others() {
  std::vector<int> all(static_cast<size_t>(size)), counts(static_cast<size_t>(size), 1), displs(static_cast<size_t>(size));
  int mine = 10 * rank, total = -1;

  MPI::COMM_WORLD.Barrier();
  MPI::COMM_WORLD.Allgather(&mine, 1, MPI::INT, all.data(), 1, MPI::INT);
  for (int r = 0; r < size; r++) CHECK(all[static_cast<size_t>(r)] == 10 * r);
  for (int r = 0; r < size; r++) displs[static_cast<size_t>(r)] = size - 1 - r;
  MPI::COMM_WORLD.Allgatherv(&mine, 1, MPI::INT, all.data(), counts.data(), displs.data(), MPI::INT);
  for (int r = 0; r < size; r++) CHECK(all[static_cast<size_t>(size - 1 - r)] == 10 * r);
  MPI::COMM_WORLD.Reduce(&mine, &total, 1, MPI::INT, MPI::SUM, size - 1);
  CHECK(total == (rank == size - 1 ? 5 * size * (size - 1) : -1));
  CHECK(MPI::COMM_SELF.Get_size() == 1 && MPI::COMM_SELF.Get_rank() == 0);
  CHECK(MPI_Comm(MPI::COMM_WORLD) == MPI_COMM_WORLD && MPI_Datatype(MPI::INT) == MPI_INT && MPI_Op(MPI::SUM) == MPI_SUM);
  CHECK(MPI::DOUBLE.Get_size() == 8 && MPI::Wtime() > 0 && MPI::SUM.Is_commutative());
}

void errors() {
  int x = 0, thrown = 0;

  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  try {
    MPI::COMM_WORLD.Bcast(&x, 1, MPI::INT, size);
  } catch (MPI::Exception &e) {
    thrown++;
    CHECK(e.Get_error_class() == MPI_ERR_ROOT && e.Get_error_code() != MPI_SUCCESS && e.Get_error_string()[0] != 0);
  }
  try {
    MPI::DATATYPE_NULL.Create_contiguous(1);
  } catch (MPI::Exception &e) {
    thrown++;
    CHECK(e.Get_error_class() == MPI_ERR_TYPE);
  }
  CHECK(thrown == 2);
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_RETURN);
  MPI::COMM_WORLD.Bcast(&x, 1, MPI::INT, size);
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

}  // namespace

/* Of every other rank, from the last to the first. */
void communicators() {
  MPI::Intracomm all = MPI::COMM_WORLD.Dup();
  MPI::Intracomm some = all.Split(rank % 2, -rank);
  int mine = rank, sum = 0, want = 0, before = 0, length;
  char name[MPI_MAX_OBJECT_NAME];

  for (int r = rank % 2; r < size; r += 2) want += r, before += r > rank;
  CHECK(MPI::Comm::Compare(all, MPI::COMM_WORLD) == MPI::CONGRUENT && MPI::Comm::Compare(all, all) == MPI::IDENT);
  CHECK(some.Get_size() == (size + 1 - rank % 2) / 2 && some.Get_rank() == before && !some.Is_inter());
  some.Allreduce(&mine, &sum, 1, MPI::INT, MPI::SUM);
  CHECK(sum == want);
  if (size > 1) {
    MPI::Intercomm two = some.Create_intercomm(some.Get_size() - 1, MPI::COMM_WORLD, rank % 2 ? 0 : 1, 3), again = two.Dup();
    MPI::Intracomm one = again.Merge(rank % 2 != 0);
    MPI::Group near = two.Get_group(), far = two.Get_remote_group();
    CHECK(two.Is_inter() && two.Get_remote_size() == size - some.Get_size() && far.Get_size() == two.Get_remote_size());
    CHECK(near.Get_rank() == before && far.Get_rank() == MPI::UNDEFINED && one.Get_size() == size && !one.Is_inter());
    two.Allreduce(&mine, &sum, 1, MPI::INT, MPI::SUM);
    CHECK(sum == size * (size - 1) / 2 - want);
    two.Bcast(&mine, 1, MPI::INT, rank % 2 ? 0 : before == 0 ? MPI::ROOT : MPI::PROC_NULL);
    CHECK(mine == (rank % 2 ? (size - 1) / 2 * 2 : rank));
    mine = rank;
    near.Free();
    far.Free();
    one.Free();
    again.Free();
    two.Disconnect();
    some.Allreduce(&mine, &sum, 1, MPI::INT, MPI::SUM);
  }
  some.Set_name("some");
  some.Get_name(name, length);
  CHECK(length == 4 && !strcmp(name, "some"));
  some.Free();
  all.Free();
  CHECK(all == MPI::COMM_NULL);
}

/* Around a ring, in each way. */
static void messages() {
  const MPI::Intracomm &world = MPI::COMM_WORLD;
  int next = (rank + 1) % size, before = (rank + size - 1) % size, sent[4] = {rank, rank + 100, rank + 200, rank + 300}, got[4], indices[4];
  MPI::Status status, statuses[4];
  MPI::Request requests[4], none;
  char buffer[1000];
  void *back = 0;

  CHECK(none == MPI::REQUEST_NULL);
  requests[0] = world.Irecv(got, 4, MPI::INT, before, 5);
  world.Send(sent, 4, MPI::INT, next, 5);
  requests[0].Wait(status);
  CHECK(requests[0] == MPI::REQUEST_NULL && got[3] == before + 300);
  CHECK(status.Get_source() == before && status.Get_tag() == 5 && status.Get_count(MPI::INT) == 4 && !status.Is_cancelled());
  requests[0] = world.Isend(sent, 2, MPI::INT, next, 6);
  world.Probe(MPI::ANY_SOURCE, 6, status);
  CHECK(status.Get_elements(MPI::INT) == 2);
  while (!world.Iprobe(before, MPI::ANY_TAG)) continue;
  world.Recv(got, 4, MPI::INT, status.Get_source(), status.Get_tag());
  while (!requests[0].Test()) continue;
  world.Sendrecv(sent, 1, MPI::INT, next, 7, got, 1, MPI::INT, before, 7);
  world.Sendrecv_replace(got, 1, MPI::INT, next, 8, before, 8, status);
  CHECK(got[0] == (before + size - 1) % size && status.Get_tag() == 8);
  MPI::Attach_buffer(buffer, sizeof buffer);
  world.Bsend(sent, 3, MPI::INT, next, 9);
  world.Recv(got, 3, MPI::INT, before, 9, status);
  CHECK(MPI::Detach_buffer(back) == sizeof buffer && back == buffer);
  for (int way = 0; way < 4; way++) {
    int left = 4;
    for (int i = 0; i < 4; i++) requests[i] = world.Irecv(&got[i], 1, MPI::INT, before, i);
    for (int i = 0; i < 4; i++) world.Issend(&sent[i], 1, MPI::INT, next, i).Free();
    if (way == 0) MPI::Request::Waitall(4, requests, statuses), left = 0;
    while (left > 0) {
      int n = 1;
      if (way == 1) indices[0] = MPI::Request::Waitany(4, requests, statuses[0]);
      if (way == 2) n = MPI::Request::Waitsome(4, requests, indices, statuses);
      if (way == 3) n = MPI::Request::Testany(4, requests, indices[0], statuses[0]);
      for (int i = 0; i < n; i++) CHECK(statuses[i].Get_tag() == indices[i] && requests[indices[i]] == MPI::REQUEST_NULL);
      left -= n;
    }
    for (int i = 0; i < 4; i++) CHECK(got[i] == before + 100 * i);
  }
  MPI::Prequest lasting[2] = {world.Recv_init(got, 1, MPI::INT, before, 3), world.Send_init(sent, 1, MPI::INT, next, 3)};
  for (int round = 0; round < 3; round++) {
    MPI::Prequest::Startall(2, lasting);
    lasting[0].Wait();
    lasting[1].Wait();
    CHECK(got[0] == before);
  }
  lasting[0].Free();
  lasting[1].Free();
  requests[0] = world.Irecv(got, 1, MPI::INT, before, 99);
  requests[0].Cancel();
  requests[0].Wait(status);
  CHECK(status.Is_cancelled());
}

int main(int argc, char **argv) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length, flag;
  bool die = argc > 1 && !strcmp(argv[1], "die");

  CHECK(!MPI::Is_initialized());
  try {
    MPI::Init(argc, argv);
  } catch (const std::exception &e) { /* the engine's way */
    fprintf(stderr, "failed in MPI::Init: %s\n", e.what());
    return 1;
  }
  CHECK(MPI::Is_initialized() && !MPI::Is_finalized());
  rank = MPI::COMM_WORLD.Get_rank();
  size = MPI::COMM_WORLD.Get_size();
  MPI::Get_processor_name(name, length);
  CHECK(length > 0 && strlen(name) == static_cast<size_t>(length));
  if (argc > 1 && !strcmp(argv[1], "fatal")) MPI::COMM_WORLD.Bcast(name, 1, MPI::CHAR, -7); /* ends the program */

  if (die && rank == size - 1) die_in_reducer = 25;
  {
    Handle handle;
    for (int round = 0; round < 10; round++) {
      die_once(die && round == 5 && rank == 0);
      broadcasts();
      integral<char>();
      integral<unsigned char>();
      integral<int>();
      integral<unsigned>();
      integral<long>();
      integral<unsigned long>();
      integral<long long>();
      integral<unsigned long long>();
      arithmetic<float>();
      arithmetic<double>();
      const size_t sizes[] = {1, 3, 4, 8, 12, 16, 100, 2000};
      for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) handle.allreduce(sizes[i], 1 + 37 * i);
      handle.allreduce(24, 0);
      others();
      communicators();
      messages();
      if (rank == 0) printf("round %d\n", round);
    }
  }
  errors();
  CHECK(size == 1 || reductions > 0);
  MPI::Finalize();
  MPI_Finalized(&flag);
  CHECK(flag && MPI::Is_finalized());
  if (rank == 0) printf("cxxbinding ok on %d ranks\n", size);
  return 0;
}
