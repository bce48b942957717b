/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of stock libxgboost 1.7 over MPI_COMM_WORLD, made to be preloaded: libxgboost calls the four
   functions at the end of this file through its PLT, so these definitions stand in front of its own, which
   need Rabit's tracker. The order of the virtual functions below is libxgboost's binary interface (its
   vtable for rabit::engine::AllreduceBase); compat-tests/programs/xgboost/calls.py goes through every one of them.

   world.h says what a world is. MPI errors are fatal (the handler that MPI_COMM_WORLD starts with), so no call's
   result is looked at here. */
#include "mpi_shim/rabit/world.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unwind.h>

#include <string>

#include "mpi_shim/ftmpi.h"

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
enum OpType : int;    // enum rabit_op
enum DataType : int;  // enum rabit_type
}  // namespace mpi

typedef void Reducer(const void *in, void *inout, int count, const MPI::Datatype &type);
typedef rabit_prepare Prepare;

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
  bool Started() const { return started_; }

  void Allgather(void *buf, size_t total, size_t slice_begin, size_t slice_end, size_t) override {
    Site site(__builtin_return_address(0));
    rabit_allgather(buf, total, slice_begin, slice_end);
  }
  void Allreduce(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, Prepare *prepare, void *arg) override;
  void Broadcast(void *buf, size_t size, int root) override {
    Site site(__builtin_return_address(0));
    rabit_broadcast(buf, size, root);
  }
  int LoadCheckPoint() override { return 0; }  // XGBoost 1.7 keeps nothing here: a restarted rank runs from its start
  void CheckPoint() override { ++version_; }
  int VersionNumber() const override { return version_; }
  int GetRingPrevRank() const override { return (rabit_rank() + rabit_size() - 1) % rabit_size(); }
  int GetRank() const override { return rabit_rank(); }
  int GetWorldSize() const override { return rabit_size(); }
  bool IsDistributed() const override { return rabit_active(); }  // a world of one in a job too, as with a tracker
  std::string GetHost() const override;
  void TrackerPrint(const std::string &msg) override { rabit_print(msg.c_str()); }

 private:
  int version_ = 0;
  bool started_ = false;
};

bool Engine::Start() {
  if (!rabit_start()) return false;
  started_ = true;
  version_ = 0;
  return true;
}

/* Reductions that MPI has no operation for; libxgboost 1.7 makes none, its interface has them. */
void Engine::Allreduce(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, Prepare *prepare, void *arg) {
  Site site(__builtin_return_address(0));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  custom = {reducer, type_nbytes};
  if (rabit_active()) {
    MPI_Type_contiguous(static_cast<int>(type_nbytes), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(CallReducer, 1, &op);
  }
  rabit_allreduce(buf, type_nbytes, count, type, op, prepare, arg);
  if (rabit_active()) {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
}

std::string Engine::GetHost() const {
  char name[256];
  rabit_host(name, sizeof name);
  return name;
}

/* Never destroyed: the program may use it in its own exit handlers. */
Engine &TheEngine() {
  static Engine *engine = new Engine;
  return *engine;
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

/* For ft/outcome/xgboost.c: a program that has trained in a communicator may train alone, too. */
extern "C" EXPORT bool ftmpi_rabit_used(void) { return TheEngine().Started(); }

namespace rabit {
namespace engine {

/* The arguments are for finding a tracker; ftrun has arranged all that. */
EXPORT bool Init(int, char **) {
  return rabit_active() || (KnownVersion(__builtin_return_address(0)) && TheEngine().Start());
}

EXPORT bool Finalize() {
  rabit_stop();
  return true;
}

EXPORT IEngine *GetEngine() { return &TheEngine(); }

EXPORT void Allreduce_(void *buf, size_t type_nbytes, size_t count, Reducer *reducer, mpi::DataType dtype, mpi::OpType op,
                       Prepare *prepare, void *arg) {
  MPI_Datatype type = rabit_type(dtype);
  MPI_Op operation = rabit_op(op);
  if (type == MPI_DATATYPE_NULL || operation == MPI_OP_NULL) {
    TheEngine().Allreduce(buf, type_nbytes, count, reducer, prepare, arg);
    return;
  }
  Site site(__builtin_return_address(0));
  rabit_allreduce(buf, type_nbytes, count, type, operation, prepare, arg);
}

}  // namespace engine
}  // namespace rabit
