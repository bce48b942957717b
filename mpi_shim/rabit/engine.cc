/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of stock libxgboost 1.7 over MPI_COMM_WORLD, made to be preloaded: libxgboost calls the four
   functions at the end of this file through its PLT, so these definitions stand in front of its own, which
   need Rabit's tracker. The order of the virtual functions below is libxgboost's binary interface (its
   vtable for rabit::engine::AllreduceBase); compat-tests/xgboost/calls.py goes through every one of them.

   Between Init and Finalize this is the job; outside of it, as upstream, a world of one. The pair may come
   many times in a program (one per CommunicatorContext), MPI_Init and MPI_Finalize only once in a process:
   the first Init does the one, the normal end of the process the other. MPI errors are fatal (the handler
   that MPI_COMM_WORLD starts with), so no call's result is looked at here. */
#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include <climits>
#include <string>
#include <vector>

#include "ftmpi.h"

#define EXPORT __attribute__((visibility("default")))

namespace MPI {
/* Upstream's stand-in for the class of MPI's C++ bindings: reducers get one and look at its size at most. */
class Datatype {
 public:
  explicit Datatype(size_t nbytes) : type_size(nbytes) {}
  size_t type_size;
};
}  // namespace MPI

namespace rabit {
namespace engine {

namespace mpi {
enum OpType { kMax = 0, kMin = 1, kSum = 2, kBitwiseOR = 3 };
enum DataType { kChar = 0, kUChar, kInt, kUInt, kLong, kULong, kFloat, kDouble, kLongLong, kULongLong };
}  // namespace mpi

typedef void Reducer(const void *in, void *inout, int count, const MPI::Datatype &type);
typedef void Prepare(void *arg);

/* Sizes and positions are bytes. No virtual destructor: it would take two places in the table. */
class IEngine {
 public:
  virtual void Allgather(void *buf, size_t total, size_t slice_begin, size_t slice_end, size_t size_prev_slice) = 0;
  virtual void Allreduce(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, Prepare *prepare, void *arg) = 0;
  virtual void Broadcast(void *buf, size_t size, int root) = 0;
  virtual int LoadCheckPoint() = 0;
  virtual void CheckPoint() = 0;
  virtual int VersionNumber() const = 0;
  virtual int GetRingPrevRank() const = 0;
  virtual int GetRank() const = 0;
  virtual int GetWorldSize() const = 0;
  virtual bool IsDistributed() const = 0;
  virtual std::string GetHost() const = 0;
  virtual void TrackerPrint(const std::string &msg) = 0;
};

}  // namespace engine
}  // namespace rabit

using rabit::engine::Prepare;
using rabit::engine::Reducer;
namespace mpi = rabit::engine::mpi;

namespace {

/* MPI counts elements in an int: larger calls are made in pieces of this many. */
const size_t piece = size_t{1} << 30;

/* Fills the buffer, unless every byte of it is about to come out of the log. Whether that holds is known for
   the next MPI call only, so a call that takes several is always prepared. */
void Fill(size_t count, Prepare *prepare, void *arg) {
  if (!prepare) return;
  int known = 0;
  if (count <= piece) MPIX_Replaying(MPI_COMM_WORLD, &known);
  if (!known) prepare(arg);
}

/* libxgboost makes all its calls of one kind at a few places: who called those is what tells one operation from another, in
   messages and in the bootstrap cache. While it exists, MPI calls count as made there. */
class Site {
 public:
  explicit Site(void *caller) {
    Search search = {caller, false, nullptr};
    _Unwind_Backtrace(Look, &search);
    MPIX_Call_site(search.next ? search.next : caller);
  }
  ~Site() { MPIX_Call_site(nullptr); }

 private:
  struct Search {
    void *caller;
    bool seen;
    void *next;
  };

  static _Unwind_Reason_Code Look(_Unwind_Context *frame, void *arg) {
    Search *search = static_cast<Search *>(arg);
    void *at = reinterpret_cast<void *>(_Unwind_GetIP(frame));
    if (search->seen) {
      search->next = at;
      return _URC_END_OF_STACK;
    }
    search->seen = at == search->caller;
    return _URC_NO_REASON;
  }
};

void AllreducePieces(void *buf, size_t type_nbytes, size_t count, MPI_Datatype type, MPI_Op op) {
  char *at = static_cast<char *>(buf);
  do {  // also once for a count of zero: it is a collective like any other
    size_t n = count < piece ? count : piece;
    MPI_Allreduce(MPI_IN_PLACE, at, static_cast<int>(n), type, op, MPI_COMM_WORLD);
    at += n * type_nbytes;
    count -= n;
  } while (count > 0);
}

void BroadcastPieces(void *buf, size_t size, int root) {
  char *at = static_cast<char *>(buf);
  do {
    size_t n = size < piece ? size : piece;
    MPI_Bcast(at, static_cast<int>(n), MPI_BYTE, root, MPI_COMM_WORLD);
    at += n;
    size -= n;
  } while (size > 0);
}

/* MPI hands a reduction function no argument of its own: what the one running call reduces with. The engine
   serves one call at a time (upstream's contract too). */
struct {
  Reducer *reducer;
  size_t type_nbytes;
} custom;

void CallReducer(void *in, void *inout, int *count, MPI_Datatype *) {
  custom.reducer(in, inout, *count, MPI::Datatype(custom.type_nbytes));
}

class Engine : public rabit::engine::IEngine {
 public:
  bool Start();
  bool active() const { return active_; }
  void Stop() { active_ = false; }

  void Allgather(void *buf, size_t total, size_t slice_begin, size_t slice_end, size_t) override;
  void Allreduce(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, Prepare *prepare, void *arg) override;
  void Broadcast(void *buf, size_t size, int root) override {
    if (!active_) return;
    Site site(__builtin_return_address(0));
    BroadcastPieces(buf, size, root);
  }
  int LoadCheckPoint() override { return 0; }  // XGBoost 1.7 keeps nothing here: a restarted rank runs from its start
  void CheckPoint() override { ++version_; }
  int VersionNumber() const override { return version_; }
  int GetRingPrevRank() const override { return (GetRank() + GetWorldSize() - 1) % GetWorldSize(); }
  int GetRank() const override { return active_ ? rank_ : 0; }
  int GetWorldSize() const override { return active_ ? size_ : 1; }
  bool IsDistributed() const override { return active_; }  // a world of one in a job too, as with a tracker
  std::string GetHost() const override;
  void TrackerPrint(const std::string &msg) override;

 private:
  bool active_ = false;
  int rank_ = 0, size_ = 1;
  int version_ = 0;
  static bool child_;  // of a rank that forked it: not the rank. (A snapshot goes on with another pid than the one that called MPI_Init.)

  static void AtExit(int status, void *);
};

bool Engine::child_ = false;

/* A process that exits with an error does not finalize: finalizing waits for the other ranks, and its status
   is its verdict on the job. A child that the program forked is not the rank. */
void Engine::AtExit(int status, void *) {
  if (status != 0 || child_) return;
  int done = 0;
  MPI_Finalized(&done);
  if (!done) MPI_Finalize();
}

bool Engine::Start() {
  int done = 0;
  MPI_Finalized(&done);
  if (done) {
    fprintf(stderr, "ftmpi: the program started the XGBoost engine after MPI_Finalize\n");
    return false;
  }
  MPI_Initialized(&done);
  if (!done) {
    int provided;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    pthread_atfork(nullptr, nullptr, [] { child_ = true; });
    on_exit(AtExit, nullptr);
  }
  MPIX_Mark_rabit();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  version_ = 0;
  active_ = true;
  return true;
}

/* A rank knows its own slice and its predecessor's; MPI wants to know everybody's. */
void Engine::Allgather(void *buf, size_t total, size_t slice_begin, size_t slice_end, size_t) {
  if (!active_) return;
  Site site(__builtin_return_address(0));
  std::vector<unsigned long> ends(2 * size_);
  ends[2 * rank_] = slice_begin;
  ends[2 * rank_ + 1] = slice_end;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, ends.data(), 2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
  for (int r = 0; r < size_; r++) {
    if (ends[2 * r] <= ends[2 * r + 1] && ends[2 * r + 1] <= total) continue;
    // RabitAllgather of XGBoost 1.7 does this to every caller: its sizes are multiplied twice
    fprintf(stderr, "ftmpi: allgather: rank %d's slice is bytes %lu to %lu of %zu\n", r, ends[2 * r], ends[2 * r + 1], total);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  char *bytes = static_cast<char *>(buf);
  if (total > INT_MAX) {
    for (int r = 0; r < size_; r++) BroadcastPieces(bytes + ends[2 * r], ends[2 * r + 1] - ends[2 * r], r);
    return;
  }
  std::vector<int> counts(size_), displs(size_);
  for (int r = 0; r < size_; r++) {
    displs[r] = static_cast<int>(ends[2 * r]);
    counts[r] = static_cast<int>(ends[2 * r + 1] - ends[2 * r]);
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bytes, counts.data(), displs.data(), MPI_BYTE, MPI_COMM_WORLD);
}

/* Reductions that MPI has no operation for; libxgboost 1.7 makes none, its interface has them. */
void Engine::Allreduce(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, Prepare *prepare, void *arg) {
  if (!active_) {
    if (prepare) prepare(arg);
    return;
  }
  Site site(__builtin_return_address(0));
  Fill(count, prepare, arg);
  custom = {reducer, type_nbytes};
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(static_cast<int>(type_nbytes), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(CallReducer, 1, &op);
  AllreducePieces(buf, type_nbytes, count, type, op);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

std::string Engine::GetHost() const {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/* Upstream's tracker prints a message as a line. Here ftrun does, and knows which lines it had already. */
void Engine::TrackerPrint(const std::string &msg) {
  std::string line = msg;
  if (line.empty() || line.back() != '\n') line += '\n';
  fwrite(line.data(), 1, line.size(), stdout);
  fflush(stdout);
}

/* Never destroyed: the program may use it in its own exit handlers. */
Engine &TheEngine() {
  static Engine *engine = new Engine;
  return *engine;
}

MPI_Datatype TypeOf(mpi::DataType type) {
  switch (type) {
    case mpi::kChar: return MPI_SIGNED_CHAR;  // MPI_CHAR is text, which MPI does not add up
    case mpi::kUChar: return MPI_UNSIGNED_CHAR;
    case mpi::kInt: return MPI_INT;
    case mpi::kUInt: return MPI_UNSIGNED;
    case mpi::kLong: return MPI_LONG;
    case mpi::kULong: return MPI_UNSIGNED_LONG;
    case mpi::kFloat: return MPI_FLOAT;
    case mpi::kDouble: return MPI_DOUBLE;
    case mpi::kLongLong: return MPI_LONG_LONG;
    case mpi::kULongLong: return MPI_UNSIGNED_LONG_LONG;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op OpOf(mpi::OpType op) {
  switch (op) {
    case mpi::kMax: return MPI_MAX;
    case mpi::kMin: return MPI_MIN;
    case mpi::kSum: return MPI_SUM;
    case mpi::kBitwiseOR: return MPI_BOR;
  }
  return MPI_OP_NULL;
}

/* Later versions number the operations differently and would get wrong sums without a word. `caller` is an
   address in the library that calls; one that is not libxgboost has no XGBoostVersion, and is let through. */
bool KnownVersion(void *caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return true;
  void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return true;
  void *symbol = dlsym(library, "XGBoostVersion");
  int major = 1, minor = 7, patch = 0;
  if (symbol) reinterpret_cast<void (*)(int *, int *, int *)>(symbol)(&major, &minor, &patch);
  dlclose(library);
  if (major == 1 && minor == 7) return true;
  fprintf(stderr, "ftmpi: %s is XGBoost %d.%d.%d, ftrun --rabit knows the engine interface of 1.7 only\n", info.dli_fname, major,
          minor, patch);
  return false;
}

}  // namespace

namespace rabit {
namespace engine {

/* The arguments are for finding a tracker; ftrun has arranged all that. */
EXPORT bool Init(int, char **) {
  Engine &engine = TheEngine();
  return engine.active() || (KnownVersion(__builtin_return_address(0)) && engine.Start());
}

EXPORT bool Finalize() {
  TheEngine().Stop();
  return true;
}

EXPORT IEngine *GetEngine() { return &TheEngine(); }

EXPORT void Allreduce_(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, mpi::DataType dtype, mpi::OpType op,
                       Prepare *prepare, void *arg) {
  Engine &engine = TheEngine();
  MPI_Datatype type = TypeOf(dtype);
  MPI_Op operation = OpOf(op);
  if (!engine.active() || type == MPI_DATATYPE_NULL || operation == MPI_OP_NULL) {
    engine.Allreduce(buf, type_nbytes, count, reducer, prepare, arg);
    return;
  }
  Site site(__builtin_return_address(0));
  Fill(count, prepare, arg);
  AllreducePieces(buf, type_nbytes, count, type, operation);
}

}  // namespace engine
}  // namespace rabit
