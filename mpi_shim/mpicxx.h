/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ binding of MPI 2.2 (its chapter 16), as far as the library reaches: the environment, datatypes and operations of one's own,
   communicators within one host, messages between two ranks and the collectives.
   It left MPI in 3.0; XGBoost 0.7 to 1.6 built with its own MPI engine needs it. Inline functions over the
   C interface; mpi.h includes this file in C++ programs, unless OMPI_SKIP_MPICXX is defined.

   Errors: as in C, the communicator's handler is called, MPI_COMM_WORLD's where there is none; at the start that ends the program. Under
   MPI::ERRORS_THROW_EXCEPTIONS a failed call throws MPI::Exception. Under MPI::ERRORS_RETURN the code is lost: these functions
   return results. MPI::Exception is a std::exception, which the standard left open and XGBoost's engine counts on.

   An operation's function must be pure, as in C; it may ask its datatype for its size. */
#ifndef FTMPI_MPICXX_H
#define FTMPI_MPICXX_H

#include "mpi.h"

extern "C++" { /* also where a program includes mpi.h within extern "C" */

#include <exception>

#if __cplusplus >= 201103L
#define FTMPI_NOTHROW noexcept
#define FTMPI_CONSTEXPR constexpr
#else
#define FTMPI_NOTHROW throw()
#define FTMPI_CONSTEXPR
#endif

extern "C" {
FTMPI_API extern struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions;
FTMPI_API void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function);
}

namespace MPI {

typedef MPI_Aint Aint;

class Exception : public std::exception {
 public:
  explicit Exception(int code) : error_code(code), error_class(code) {
    int length;
    text[0] = 0;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
  }
  ~Exception() FTMPI_NOTHROW {}
  int Get_error_code() const { return error_code; }
  int Get_error_class() const { return error_class; }
  const char *Get_error_string() const { return text; }
  const char *what() const FTMPI_NOTHROW { return text; }

 private:
  int error_code, error_class;
  char text[MPI_MAX_ERROR_STRING];
};

/* A call's error code, when its handler has returned: thrown if that is what the handler is for. */
inline void ftmpi_check(int code, MPI_Comm comm = MPI_COMM_WORLD) {
  if (code == MPI_SUCCESS) return;
  MPI_Errhandler handler;
  if (comm == MPI_COMM_NULL || MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return;
  bool throws = handler == FTMPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_throw_exceptions);
  MPI_Errhandler_free(&handler);
  if (!throws) return;
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
  throw Exception(code);
#else
  MPI_Abort(comm, code);
#endif
}

/* Environment. */

inline void Init(int &argc, char **&argv) { ftmpi_check(MPI_Init(&argc, &argv)); }
inline void Init() { ftmpi_check(MPI_Init(0, 0)); }
inline int Init_thread(int &argc, char **&argv, int required) {
  int provided = required;
  ftmpi_check(MPI_Init_thread(&argc, &argv, required, &provided));
  return provided;
}
inline int Init_thread(int required) {
  int provided = required;
  ftmpi_check(MPI_Init_thread(0, 0, required, &provided));
  return provided;
}
inline int Query_thread() {
  int provided = MPI_THREAD_SINGLE;
  ftmpi_check(MPI_Query_thread(&provided));
  return provided;
}
inline bool Is_thread_main() {
  int flag = 0;
  ftmpi_check(MPI_Is_thread_main(&flag));
  return flag != 0;
}
inline void Finalize() { ftmpi_check(MPI_Finalize()); }
inline bool Is_initialized() {
  int flag = 0;
  ftmpi_check(MPI_Initialized(&flag));
  return flag != 0;
}
inline bool Is_finalized() {
  int flag = 0;
  ftmpi_check(MPI_Finalized(&flag));
  return flag != 0;
}
inline void Get_processor_name(char *name, int &length) { ftmpi_check(MPI_Get_processor_name(name, &length)); }
inline void Get_version(int &version, int &subversion) { ftmpi_check(MPI_Get_version(&version, &subversion)); }
inline double Wtime() { return MPI_Wtime(); }
inline double Wtick() { return MPI_Wtick(); }
inline int Get_error_class(int code) {
  int error_class = code;
  ftmpi_check(MPI_Error_class(code, &error_class));
  return error_class;
}
inline void Get_error_string(int code, char *text, int &length) { ftmpi_check(MPI_Error_string(code, text, &length)); }
inline Aint Get_address(const void *location) {
  Aint address = 0;
  ftmpi_check(MPI_Get_address(location, &address));
  return address;
}

inline void Attach_buffer(void *buffer, int size) { ftmpi_check(MPI_Buffer_attach(buffer, size)); }
inline int Detach_buffer(void *&buffer) {
  int size = 0;
  ftmpi_check(MPI_Buffer_detach(&buffer, &size));
  return size;
}

/* Handles. Copies are the same object; nothing is freed by a destructor. What they hold is a void pointer, because with
   it the predefined ones are constants, initialised before any code runs. */

class Errhandler {
 public:
  FTMPI_CONSTEXPR Errhandler() : object(&ompi_mpi_errhandler_null) {}
  Errhandler(MPI_Errhandler handle) : object(handle) {}
  FTMPI_CONSTEXPR explicit Errhandler(ompi_predefined_errhandler_t &predefined) : object(&predefined) {}
  operator MPI_Errhandler() const { return static_cast<MPI_Errhandler>(object); }
  void Free() {
    MPI_Errhandler handle = *this;
    ftmpi_check(MPI_Errhandler_free(&handle));
    object = handle;
  }

 private:
  void *object;
};

class Datatype {
 public:
  FTMPI_CONSTEXPR Datatype() : object(&ompi_mpi_datatype_null) {}
  Datatype(MPI_Datatype handle) : object(handle) {}
  FTMPI_CONSTEXPR explicit Datatype(ompi_predefined_datatype_t &predefined) : object(&predefined) {}
  operator MPI_Datatype() const { return static_cast<MPI_Datatype>(object); }
  Datatype Create_contiguous(int count) const {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    ftmpi_check(MPI_Type_contiguous(count, *this, &made));
    return made;
  }
  void Commit() {
    MPI_Datatype handle = *this;
    ftmpi_check(MPI_Type_commit(&handle));
  }
  void Free() {
    MPI_Datatype handle = *this;
    ftmpi_check(MPI_Type_free(&handle));
    object = handle;
  }
  int Get_size() const {
    int size = 0;
    ftmpi_check(MPI_Type_size(*this, &size));
    return size;
  }
  void Get_extent(Aint &lb, Aint &extent) const { ftmpi_check(MPI_Type_get_extent(*this, &lb, &extent)); }

 private:
  void *object;
};

typedef void User_function(const void *in, void *inout, int len, const Datatype &datatype);

/* What the library calls for an operation of the binding. */
inline void ftmpi_call_user(void *in, void *inout, int *len, MPI_Datatype *datatype, MPI_User_function *function) {
  reinterpret_cast<User_function *>(reinterpret_cast<void (*)()>(function))(in, inout, *len, Datatype(*datatype));
}

class Op {
 public:
  FTMPI_CONSTEXPR Op() : object(&ompi_mpi_op_null) {}
  Op(MPI_Op handle) : object(handle) {}
  FTMPI_CONSTEXPR explicit Op(ompi_predefined_op_t &predefined) : object(&predefined) {}
  operator MPI_Op() const { return static_cast<MPI_Op>(object); }
  void Init(User_function *function, bool commute) {
    MPI_User_function *intercept = reinterpret_cast<MPI_User_function *>(reinterpret_cast<void (*)()>(&ftmpi_call_user));
    MPI_Op handle = MPI_OP_NULL;
    int code = MPI_Op_create(intercept, commute, &handle);
    if (code == MPI_SUCCESS)
      ompi_op_set_cxx_callback(handle, reinterpret_cast<MPI_User_function *>(reinterpret_cast<void (*)()>(function)));
    object = handle;
    ftmpi_check(code);
  }
  void Free() {
    MPI_Op handle = *this;
    ftmpi_check(MPI_Op_free(&handle));
    object = handle;
  }
  bool Is_commutative() const {
    int commute = 0;
    ftmpi_check(MPI_Op_commutative(*this, &commute));
    return commute != 0;
  }
  void Reduce_local(const void *in, void *inout, int count, const Datatype &datatype) const {
    ftmpi_check(MPI_Reduce_local(in, inout, count, datatype, *this));
  }

 private:
  void *object;
};

/* What a call tells where the program passes one; the C functions take its address. */
class Status {
 public:
  Status() : status() {}
  Status(const MPI_Status &from) : status(from) {}
  operator MPI_Status() const { return status; }
  int Get_source() const { return status.MPI_SOURCE; }
  int Get_tag() const { return status.MPI_TAG; }
  int Get_error() const { return status.MPI_ERROR; }
  void Set_source(int source) { status.MPI_SOURCE = source; }
  void Set_tag(int tag) { status.MPI_TAG = tag; }
  void Set_error(int error) { status.MPI_ERROR = error; }
  int Get_count(const Datatype &datatype) const {
    int count = MPI_UNDEFINED;
    ftmpi_check(MPI_Get_count(&status, datatype, &count));
    return count;
  }
  int Get_elements(const Datatype &datatype) const {
    int count = MPI_UNDEFINED;
    ftmpi_check(MPI_Get_elements(&status, datatype, &count));
    return count;
  }
  void Set_elements(const Datatype &datatype, int count) { ftmpi_check(MPI_Status_set_elements(&status, datatype, count)); }
  bool Is_cancelled() const {
    int flag = 0;
    ftmpi_check(MPI_Test_cancelled(&status, &flag));
    return flag != 0;
  }
  void Set_cancelled(bool flag) { ftmpi_check(MPI_Status_set_cancelled(&status, flag)); }
  MPI_Status *ftmpi_c() { return &status; }

 private:
  MPI_Status status;
};

class Request {
 public:
  FTMPI_CONSTEXPR Request() : object(&ompi_request_null) {}
  Request(MPI_Request handle) : object(handle) {}
  FTMPI_CONSTEXPR explicit Request(ompi_predefined_request_t &predefined) : object(&predefined) {}
  operator MPI_Request() const { return static_cast<MPI_Request>(object); }
  void Wait(Status &status) { wait(status.ftmpi_c()); }
  void Wait() { wait(0); }
  bool Test(Status &status) { return test(status.ftmpi_c()); }
  bool Test() { return test(0); }
  bool Get_status(Status &status) const { return get_status(status.ftmpi_c()); }
  bool Get_status() const { return get_status(0); }
  void Free() {
    MPI_Request handle = *this;
    int code = MPI_Request_free(&handle);
    object = handle;
    ftmpi_check(code);
  }
  void Cancel() const {
    MPI_Request handle = *this;
    ftmpi_check(MPI_Cancel(&handle));
  }
  static void Waitall(int count, Request requests[], Status statuses[]) { all(count, requests, statuses, 0); }
  static void Waitall(int count, Request requests[]) { all(count, requests, 0, 0); }
  static bool Testall(int count, Request requests[], Status statuses[]) {
    int flag = 0;
    all(count, requests, statuses, &flag);
    return flag != 0;
  }
  static bool Testall(int count, Request requests[]) { return Testall(count, requests, 0); }
  static int Waitany(int count, Request requests[], Status &status) { return any(count, requests, 0, status.ftmpi_c()); }
  static int Waitany(int count, Request requests[]) { return any(count, requests, 0, 0); }
  static bool Testany(int count, Request requests[], int &index, Status &status) {
    int flag = 0;
    index = any(count, requests, &flag, status.ftmpi_c());
    return flag != 0;
  }
  static bool Testany(int count, Request requests[], int &index) {
    int flag = 0;
    index = any(count, requests, &flag, 0);
    return flag != 0;
  }
  static int Waitsome(int count, Request requests[], int indices[], Status statuses[]) {
    return some(MPI_Waitsome, count, requests, indices, statuses);
  }
  static int Waitsome(int count, Request requests[], int indices[]) { return some(MPI_Waitsome, count, requests, indices, 0); }
  static int Testsome(int count, Request requests[], int indices[], Status statuses[]) {
    return some(MPI_Testsome, count, requests, indices, statuses);
  }
  static int Testsome(int count, Request requests[], int indices[]) { return some(MPI_Testsome, count, requests, indices, 0); }

 protected:
  void *object;

  /* The same in C, for the time of a call; then each is what the call has made of it. */
  class Row {
   public:
    Row(int n, Request *from, bool with_statuses)
        : length(n > 0 ? n : 0), requests(from), handles(new MPI_Request[length + 1]),
          told(with_statuses ? new MPI_Status[length + 1] : 0) {
      for (int i = 0; i < length; i++) handles[i] = requests[i];
      for (int i = 0; told && i < length; i++) told[i] = MPI_Status();
    }
    ~Row() {
      delete[] handles;
      delete[] told;
    }
    void back(int n, Status *statuses) {
      for (int i = 0; i < length; i++) requests[i].object = handles[i];
      for (int i = 0; told && i < n; i++) statuses[i] = told[i];
    }
    int length;
    Request *requests;
    MPI_Request *handles;
    MPI_Status *told;

   private:
    Row(const Row &);
    void operator=(const Row &);
  };

  void wait(MPI_Status *status) {
    MPI_Request handle = *this;
    int code = MPI_Wait(&handle, status);
    object = handle;
    ftmpi_check(code);
  }
  bool test(MPI_Status *status) {
    MPI_Request handle = *this;
    int flag = 0, code = MPI_Test(&handle, &flag, status);
    object = handle;
    ftmpi_check(code);
    return flag != 0;
  }
  bool get_status(MPI_Status *status) const {
    int flag = 0;
    ftmpi_check(MPI_Request_get_status(*this, &flag, status));
    return flag != 0;
  }
  static void all(int count, Request *requests, Status *statuses, int *flag) {
    Row row(count, requests, statuses != 0);
    int code = flag ? MPI_Testall(count, row.handles, flag, row.told) : MPI_Waitall(count, row.handles, row.told);
    row.back(!flag || *flag ? row.length : 0, statuses);
    ftmpi_check(code);
  }
  static int any(int count, Request *requests, int *flag, MPI_Status *status) {
    Row row(count, requests, false);
    int index = MPI_UNDEFINED;
    int code = flag ? MPI_Testany(count, row.handles, &index, flag, status) : MPI_Waitany(count, row.handles, &index, status);
    row.back(0, 0);
    ftmpi_check(code);
    return index;
  }
  static int some(int (*call)(int, MPI_Request *, int *, int *, MPI_Status *), int count, Request *requests, int *indices,
                  Status *statuses) {
    Row row(count, requests, statuses != 0);
    int n = MPI_UNDEFINED, code = call(count, row.handles, &n, indices, row.told);
    row.back(n, statuses);
    ftmpi_check(code);
    return n;
  }
};

class Prequest : public Request {
 public:
  FTMPI_CONSTEXPR Prequest() {}
  Prequest(MPI_Request handle) : Request(handle) {}
  void Start() {
    MPI_Request handle = *this;
    ftmpi_check(MPI_Start(&handle));
  }
  static void Startall(int count, Prequest requests[]) {
    MPI_Request *handles = new MPI_Request[count > 0 ? count : 1];
    for (int i = 0; i < count; i++) handles[i] = requests[i];
    int code = MPI_Startall(count, handles);
    delete[] handles;
    ftmpi_check(code);
  }
};

class Group {
 public:
  FTMPI_CONSTEXPR Group() : object(&ompi_mpi_group_null) {}
  Group(MPI_Group handle) : object(handle) {}
  operator MPI_Group() const { return static_cast<MPI_Group>(object); }
  int Get_size() const {
    int size = MPI_UNDEFINED;
    ftmpi_check(MPI_Group_size(*this, &size), MPI_COMM_WORLD);
    return size;
  }
  int Get_rank() const {
    int rank = MPI_UNDEFINED;
    ftmpi_check(MPI_Group_rank(*this, &rank), MPI_COMM_WORLD);
    return rank;
  }
  Group Incl(int n, const int ranks[]) const {
    MPI_Group made = MPI_GROUP_NULL;
    ftmpi_check(MPI_Group_incl(*this, n, ranks, &made), MPI_COMM_WORLD);
    return made;
  }
  Group Excl(int n, const int ranks[]) const {
    MPI_Group made = MPI_GROUP_NULL;
    ftmpi_check(MPI_Group_excl(*this, n, ranks, &made), MPI_COMM_WORLD);
    return made;
  }
  static void Translate_ranks(const Group &from, int n, const int ranks[], const Group &to, int translated[]) {
    ftmpi_check(MPI_Group_translate_ranks(from, n, ranks, to, translated), MPI_COMM_WORLD);
  }
  static int Compare(const Group &one, const Group &other) {
    int result = MPI_UNEQUAL;
    ftmpi_check(MPI_Group_compare(one, other, &result), MPI_COMM_WORLD);
    return result;
  }
  void Free() {
    MPI_Group handle = *this;
    ftmpi_check(MPI_Group_free(&handle), MPI_COMM_WORLD);
    object = handle;
  }

 private:
  void *object;
};

class Comm {
 public:
  FTMPI_CONSTEXPR Comm() : object(&ompi_mpi_comm_null) {}
  Comm(MPI_Comm handle) : object(handle) {}
  FTMPI_CONSTEXPR explicit Comm(ompi_predefined_communicator_t &predefined) : object(&predefined) {}
  operator MPI_Comm() const { return static_cast<MPI_Comm>(object); }
  int Get_rank() const {
    int rank = MPI_UNDEFINED;
    check(MPI_Comm_rank(*this, &rank));
    return rank;
  }
  int Get_size() const {
    int size = MPI_UNDEFINED;
    check(MPI_Comm_size(*this, &size));
    return size;
  }
  void Send(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    check(MPI_Send(buffer, count, datatype, dest, tag, *this));
  }
  void Bsend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    check(MPI_Bsend(buffer, count, datatype, dest, tag, *this));
  }
  void Ssend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    check(MPI_Ssend(buffer, count, datatype, dest, tag, *this));
  }
  void Rsend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    check(MPI_Rsend(buffer, count, datatype, dest, tag, *this));
  }
  void Recv(void *buffer, int count, const Datatype &datatype, int source, int tag, Status &status) const {
    check(MPI_Recv(buffer, count, datatype, source, tag, *this, status.ftmpi_c()));
  }
  void Recv(void *buffer, int count, const Datatype &datatype, int source, int tag) const {
    check(MPI_Recv(buffer, count, datatype, source, tag, *this, 0));
  }
  Request Isend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Isend(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Request Ibsend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Ibsend(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Request Issend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Issend(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Request Irsend(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Irsend(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Request Irecv(void *buffer, int count, const Datatype &datatype, int source, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Irecv(buffer, count, datatype, source, tag, *this, &made));
    return made;
  }
  void Sendrecv(const void *send, int sendcount, const Datatype &sendtype, int dest, int sendtag, void *recv, int recvcount,
                const Datatype &recvtype, int source, int recvtag, Status &status) const {
    check(MPI_Sendrecv(send, sendcount, sendtype, dest, sendtag, recv, recvcount, recvtype, source, recvtag, *this, status.ftmpi_c()));
  }
  void Sendrecv(const void *send, int sendcount, const Datatype &sendtype, int dest, int sendtag, void *recv, int recvcount,
                const Datatype &recvtype, int source, int recvtag) const {
    check(MPI_Sendrecv(send, sendcount, sendtype, dest, sendtag, recv, recvcount, recvtype, source, recvtag, *this, 0));
  }
  void Sendrecv_replace(void *buffer, int count, const Datatype &datatype, int dest, int sendtag, int source, int recvtag,
                        Status &status) const {
    check(MPI_Sendrecv_replace(buffer, count, datatype, dest, sendtag, source, recvtag, *this, status.ftmpi_c()));
  }
  void Sendrecv_replace(void *buffer, int count, const Datatype &datatype, int dest, int sendtag, int source, int recvtag) const {
    check(MPI_Sendrecv_replace(buffer, count, datatype, dest, sendtag, source, recvtag, *this, 0));
  }
  void Probe(int source, int tag, Status &status) const {
    check(MPI_Probe(source, tag, *this, status.ftmpi_c()));
  }
  void Probe(int source, int tag) const {
    check(MPI_Probe(source, tag, *this, 0));
  }
  bool Iprobe(int source, int tag, Status &status) const {
    int flag = 0;
    check(MPI_Iprobe(source, tag, *this, &flag, status.ftmpi_c()));
    return flag != 0;
  }
  bool Iprobe(int source, int tag) const {
    int flag = 0;
    check(MPI_Iprobe(source, tag, *this, &flag, 0));
    return flag != 0;
  }
  Prequest Send_init(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Send_init(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Prequest Bsend_init(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Bsend_init(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Prequest Ssend_init(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Ssend_init(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Prequest Rsend_init(const void *buffer, int count, const Datatype &datatype, int dest, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Rsend_init(buffer, count, datatype, dest, tag, *this, &made));
    return made;
  }
  Prequest Recv_init(void *buffer, int count, const Datatype &datatype, int source, int tag) const {
    MPI_Request made = MPI_REQUEST_NULL;
    check(MPI_Recv_init(buffer, count, datatype, source, tag, *this, &made));
    return made;
  }
  void Barrier() const { check(MPI_Barrier(*this)); }
  void Bcast(void *buffer, int count, const Datatype &datatype, int root) const {
    check(MPI_Bcast(buffer, count, datatype, root, *this));
  }
  void Reduce(const void *send, void *recv, int count, const Datatype &datatype, const Op &op, int root) const {
    check(MPI_Reduce(send, recv, count, datatype, op, root, *this));
  }
  void Allreduce(const void *send, void *recv, int count, const Datatype &datatype, const Op &op) const {
    check(MPI_Allreduce(send, recv, count, datatype, op, *this));
  }
  void Allgather(const void *send, int sendcount, const Datatype &sendtype, void *recv, int recvcount,
                 const Datatype &recvtype) const {
    check(MPI_Allgather(send, sendcount, sendtype, recv, recvcount, recvtype, *this));
  }
  void Allgatherv(const void *send, int sendcount, const Datatype &sendtype, void *recv, const int recvcounts[],
                  const int displs[], const Datatype &recvtype) const {
    check(MPI_Allgatherv(send, sendcount, sendtype, recv, recvcounts, displs, recvtype, *this));
  }
  void Abort(int code) const { MPI_Abort(*this, code); }
  void Set_errhandler(const Errhandler &handler) const { check(MPI_Comm_set_errhandler(*this, handler)); }
  Errhandler Get_errhandler() const {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    check(MPI_Comm_get_errhandler(*this, &handler));
    return handler;
  }
  void Call_errhandler(int code) const {
    check(MPI_Comm_call_errhandler(*this, code));
    check(code);
  }
  void Set_name(const char *name) const { check(MPI_Comm_set_name(*this, name)); }
  void Get_name(char *name, int &length) const { check(MPI_Comm_get_name(*this, name, &length)); }
  bool Is_inter() const {
    int flag = 0;
    check(MPI_Comm_test_inter(*this, &flag));
    return flag != 0;
  }
  Group Get_group() const {
    MPI_Group made = MPI_GROUP_NULL;
    check(MPI_Comm_group(*this, &made));
    return made;
  }
  static int Compare(const Comm &one, const Comm &other) {
    int result = MPI_UNEQUAL;
    ftmpi_check(MPI_Comm_compare(one, other, &result), one);
    return result;
  }
  void Free() {
    MPI_Comm handle = *this;
    check(MPI_Comm_free(&handle));
    object = handle;
  }
  void Disconnect() {
    MPI_Comm handle = *this;
    check(MPI_Comm_disconnect(&handle));
    object = handle;
  }

 protected:
  void check(int code) const { ftmpi_check(code, *this); }

 private:
  void *object;
};

class Intercomm;

class Intracomm : public Comm {
 public:
  FTMPI_CONSTEXPR Intracomm() {}
  Intracomm(MPI_Comm handle) : Comm(handle) {}
  FTMPI_CONSTEXPR explicit Intracomm(ompi_predefined_communicator_t &predefined) : Comm(predefined) {}
  Intracomm Dup() const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_dup(*this, &made));
    return made;
  }
  Intracomm &Clone() const { return *new Intracomm(Dup()); }
  Intracomm Split(int color, int key) const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split(*this, color, key, &made));
    return made;
  }
  Intracomm Create(const Group &group) const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_create(*this, group, &made));
    return made;
  }
  inline Intercomm Create_intercomm(int local_leader, const Comm &peer_comm, int remote_leader, int tag) const;
};

class Intercomm : public Comm {
 public:
  FTMPI_CONSTEXPR Intercomm() {}
  Intercomm(MPI_Comm handle) : Comm(handle) {}
  Intercomm Dup() const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_dup(*this, &made));
    return made;
  }
  Intercomm &Clone() const { return *new Intercomm(Dup()); }
  Intercomm Split(int color, int key) const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split(*this, color, key, &made));
    return made;
  }
  Intercomm Create(const Group &group) const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_create(*this, group, &made));
    return made;
  }
  int Get_remote_size() const {
    int size = MPI_UNDEFINED;
    check(MPI_Comm_remote_size(*this, &size));
    return size;
  }
  Group Get_remote_group() const {
    MPI_Group made = MPI_GROUP_NULL;
    check(MPI_Comm_remote_group(*this, &made));
    return made;
  }
  Intracomm Merge(bool high) const {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Intercomm_merge(*this, high, &made));
    return made;
  }
};

inline Intercomm Intracomm::Create_intercomm(int local_leader, const Comm &peer_comm, int remote_leader, int tag) const {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Intercomm_create(*this, local_leader, peer_comm, remote_leader, tag, &made));
  return made;
}

/* Predefined objects and constants. */

const Intracomm COMM_WORLD(ompi_mpi_comm_world), COMM_SELF(ompi_mpi_comm_self);
const Comm COMM_NULL(ompi_mpi_comm_null);

const Errhandler ERRHANDLER_NULL(ompi_mpi_errhandler_null), ERRORS_ARE_FATAL(ompi_mpi_errors_are_fatal),
    ERRORS_RETURN(ompi_mpi_errors_return), ERRORS_THROW_EXCEPTIONS(ompi_mpi_errors_throw_exceptions);

const Datatype DATATYPE_NULL(ompi_mpi_datatype_null), CHAR(ompi_mpi_char), SIGNED_CHAR(ompi_mpi_signed_char),
    UNSIGNED_CHAR(ompi_mpi_unsigned_char), BYTE(ompi_mpi_byte), PACKED(ompi_mpi_packed), SHORT(ompi_mpi_short),
    UNSIGNED_SHORT(ompi_mpi_unsigned_short), INT(ompi_mpi_int), UNSIGNED(ompi_mpi_unsigned), LONG(ompi_mpi_long),
    UNSIGNED_LONG(ompi_mpi_unsigned_long), LONG_LONG(ompi_mpi_long_long_int),
    UNSIGNED_LONG_LONG(ompi_mpi_unsigned_long_long), WCHAR(ompi_mpi_wchar), BOOL(ompi_mpi_cxx_bool),
    FLOAT(ompi_mpi_float), DOUBLE(ompi_mpi_double), LONG_DOUBLE(ompi_mpi_long_double), COMPLEX(ompi_mpi_cxx_cplex),
    DOUBLE_COMPLEX(ompi_mpi_cxx_dblcplex), LONG_DOUBLE_COMPLEX(ompi_mpi_cxx_ldblcplex), FLOAT_INT(ompi_mpi_float_int),
    DOUBLE_INT(ompi_mpi_double_int), LONG_INT(ompi_mpi_long_int), TWOINT(ompi_mpi_2int),
    SHORT_INT(ompi_mpi_short_int), LONG_DOUBLE_INT(ompi_mpi_longdbl_int);

const Op OP_NULL(ompi_mpi_op_null), MAX(ompi_mpi_op_max), MIN(ompi_mpi_op_min), SUM(ompi_mpi_op_sum),
    PROD(ompi_mpi_op_prod), LAND(ompi_mpi_op_land), BAND(ompi_mpi_op_band), LOR(ompi_mpi_op_lor),
    BOR(ompi_mpi_op_bor), LXOR(ompi_mpi_op_lxor), BXOR(ompi_mpi_op_bxor), MAXLOC(ompi_mpi_op_maxloc),
    MINLOC(ompi_mpi_op_minloc);

const Request REQUEST_NULL(ompi_request_null);

void *const IN_PLACE = reinterpret_cast<void *>(1); /* as mpi.h has it, but without a C cast */
void *const BOTTOM = 0;
const int UNDEFINED = MPI_UNDEFINED, PROC_NULL = MPI_PROC_NULL, ANY_SOURCE = MPI_ANY_SOURCE, ANY_TAG = MPI_ANY_TAG,
          ROOT = MPI_ROOT, BSEND_OVERHEAD = MPI_BSEND_OVERHEAD;
const int IDENT = MPI_IDENT, CONGRUENT = MPI_CONGRUENT, SIMILAR = MPI_SIMILAR, UNEQUAL = MPI_UNEQUAL;
const int THREAD_SINGLE = MPI_THREAD_SINGLE, THREAD_FUNNELED = MPI_THREAD_FUNNELED,
          THREAD_SERIALIZED = MPI_THREAD_SERIALIZED, THREAD_MULTIPLE = MPI_THREAD_MULTIPLE;
const int MAX_PROCESSOR_NAME = MPI_MAX_PROCESSOR_NAME, MAX_ERROR_STRING = MPI_MAX_ERROR_STRING,
          MAX_OBJECT_NAME = MPI_MAX_OBJECT_NAME;
const int SUCCESS = MPI_SUCCESS, ERR_BUFFER = MPI_ERR_BUFFER, ERR_COUNT = MPI_ERR_COUNT, ERR_TYPE = MPI_ERR_TYPE,
    ERR_COMM = MPI_ERR_COMM, ERR_RANK = MPI_ERR_RANK, ERR_ROOT = MPI_ERR_ROOT, ERR_OP = MPI_ERR_OP, ERR_ARG =
    MPI_ERR_ARG, ERR_TAG = MPI_ERR_TAG,
    ERR_REQUEST = MPI_ERR_REQUEST, ERR_IN_STATUS = MPI_ERR_IN_STATUS, ERR_PENDING = MPI_ERR_PENDING, ERR_UNKNOWN = MPI_ERR_UNKNOWN,
    ERR_TRUNCATE = MPI_ERR_TRUNCATE, ERR_OTHER = MPI_ERR_OTHER, ERR_INTERN
    = MPI_ERR_INTERN, ERR_UNSUPPORTED_OPERATION = MPI_ERR_UNSUPPORTED_OPERATION;

}  // namespace MPI

#undef FTMPI_NOTHROW
#undef FTMPI_CONSTEXPR

}  // extern "C++"

#endif
