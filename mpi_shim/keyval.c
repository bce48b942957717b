/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: values that a program hangs on communicators and datatypes under keys of its own (MPI 3.1 section 6.7),
   from C, and through the wrappers from C++ and Fortran. All of it is local to the process.
   A value set in one language may be read in another (17.2.7): C sees a Fortran integer as a pointer to it, Fortran
   sees a C pointer as a number. */
#include <limits.h>
#include <stdlib.h>

#include "mpi_shim/shim.h"
#include "mpi_shim/wrappers.h"

enum kind { NONE, OF_COMM, OF_TYPE, OF_WIN };   /* numbers that the wrappers use, too */
enum { FORTRAN = 2, FORTRAN_INTEGER = 4 };      /* flags, likewise: MPI_Aint or MPI_Fint arguments */

struct keyval {
    int kind, flags;
    int uses;               /* 1 for the program's own, until it frees it, and 1 per attribute */
    bool freed;
    void (*copy)(void);     /* for duplicates */
    void (*delete)(void);
    MPI_Aint extra;
};

/* The numbers below MPI_FIRST are the standard's own and carry no functions. */
enum { FIRST = IMPI_HOST_COLOR + 1 };
static struct {
    struct keyval **all;    /* [i] is key FIRST + i; NULL: free for reuse */
    int n;
} keyvals;

struct shim_attribute {
    struct shim_attribute *next;    /* the one set before */
    int key;
    enum { POINTER, INTEGER, ADDRESS } set_as;
    union {
        void *pointer;
        MPI_Fint integer;
        MPI_Aint address;
    } value;
};

static struct keyval *user_keyval(int key)
{
    return key >= FIRST && key - FIRST < keyvals.n ? keyvals.all[key - FIRST] : NULL;
}

static void release(int key)
{
    struct keyval *k = user_keyval(key);

    if (k && --k->uses == 0) {
        free(k);
        keyvals.all[key - FIRST] = NULL;
    }
}

static int free_key(void)
{
    struct keyval **more;
    int i = 0;

    while (i < keyvals.n && keyvals.all[i])
        i++;
    if (i < keyvals.n)
        return FIRST + i;
    more = realloc(keyvals.all, ((size_t)i + 1) * sizeof *more);
    if (!more)
        return MPI_KEYVAL_INVALID;
    keyvals.all = more;
    keyvals.all[keyvals.n++] = NULL;
    return FIRST + i;
}

static int create(int kind, void (*copy)(void), void (*delete)(void), int *key, MPI_Aint extra, int flags)
{
    struct keyval *k = malloc(sizeof *k);
    int made = k ? free_key() : MPI_KEYVAL_INVALID;

    if (made == MPI_KEYVAL_INVALID) {
        free(k);
        return MPI_ERR_NO_MEM;
    }
    *k = (struct keyval){.kind = kind, .flags = flags, .uses = 1, .copy = copy, .delete = delete, .extra = extra};
    keyvals.all[made - FIRST] = k;
    *key = made;
    return MPI_SUCCESS;
}

/* May this key be used for such objects at all? */
static bool is_key(int kind, int key)
{
    struct keyval *k = user_keyval(key);

    if (k)
        return k->kind == kind && !k->freed;
    return key >= 0 && key < FIRST && kind == (key >= MPI_WIN_BASE && key <= MPI_WIN_MODEL ? OF_WIN : OF_COMM);
}

static struct shim_attribute *find(struct shim_attribute *list, int key)
{
    while (list && list->key != key)
        list = list->next;
    return list;
}

static void *as_pointer(struct shim_attribute *a)
{
    return a->set_as == POINTER ? a->value.pointer : (void *)&a->value;
}

static MPI_Aint as_address(const struct shim_attribute *a)
{
    return a->set_as == POINTER ? (MPI_Aint)(intptr_t)a->value.pointer : a->set_as == INTEGER ? a->value.integer : a->value.address;
}

static MPI_Fint number_of(int kind, void *object)
{
    return kind == OF_COMM ? PMPI_Comm_c2f(object) : kind == OF_TYPE ? PMPI_Type_c2f(object) : PMPI_Win_c2f(object);
}

/* The program's delete function, as its language wants it. */
static int call_delete(int kind, void *object, struct shim_attribute *a)
{
    struct keyval *k = user_keyval(a->key);
    MPI_Fint number, ierr = MPI_SUCCESS, value = (MPI_Fint)as_address(a), extra = k ? (MPI_Fint)k->extra : 0;
    MPI_Aint address = as_address(a), extra_address = k ? k->extra : 0;
    uint32_t depth;

    if (!k || !k->delete)
        return MPI_SUCCESS;
    number = k->flags & FORTRAN ? number_of(kind, object) : 0;
    depth = shim_let();
    if (!(k->flags & FORTRAN))
        ierr = ((int (*)(void *, int, void *, void *))k->delete)(object, a->key, as_pointer(a), (void *)(intptr_t)k->extra);
    else if (k->flags & FORTRAN_INTEGER)
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))k->delete)(&number, &a->key, &value, &extra, &ierr);
    else
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *))k->delete)(&number, &a->key, &address,
                                                                                          &extra_address, &ierr);
    shim_take(depth);
    return ierr;
}

/* The delete function may set and delete others, so the place in the list is looked up after it. */
static int take_away(int kind, void *object, struct shim_attribute **list, int key)
{
    struct shim_attribute *a = find(*list, key);
    int err;

    if (!a)
        return MPI_ERR_KEYVAL;
    err = call_delete(kind, object, a);
    if (err)
        return err;
    while (*list && *list != a)
        list = &(*list)->next;
    if (*list == a)
        *list = a->next;
    free(a);
    release(key);
    return MPI_SUCCESS;
}

static int set(int kind, void *object, struct shim_attribute **list, const struct shim_attribute *what)
{
    struct shim_attribute *a;
    int err = MPI_SUCCESS;

    if (find(*list, what->key))
        err = take_away(kind, object, list, what->key);
    if (err)
        return err;
    a = malloc(sizeof *a);
    if (!a)
        return MPI_ERR_NO_MEM;
    *a = *what;
    a->next = *list;
    *list = a;
    if (user_keyval(a->key))
        user_keyval(a->key)->uses++;
    return MPI_SUCCESS;
}

/* The program's attributes may be set under its own keys only. */
static int check_and_set(int kind, void *object, struct shim_attribute **list, const struct shim_attribute *what)
{
    return user_keyval(what->key) && is_key(kind, what->key) ? set(kind, object, list, what) : MPI_ERR_KEYVAL;
}

/* The program's copy function, as its language wants it; functions of the C++ wrapper are given the duplicate, too. `out` is the value
   that the duplicate gets, if `there`. The standard's own go along, all but one that belongs to MPI_COMM_WORLD. */
static int call_copy(int kind, void *from, void *to, struct shim_attribute *a, struct shim_attribute *out, int *there)
{
    struct keyval *k = user_keyval(a->key);
    MPI_Fint number, ierr = MPI_SUCCESS, value = (MPI_Fint)as_address(a), extra = k ? (MPI_Fint)k->extra : 0;
    MPI_Aint address = as_address(a), extra_address = k ? k->extra : 0;
    uint32_t depth;

    *out = *a;
    *there = !k && a->key != MPI_LASTUSEDCODE;
    if (!k)
        return MPI_SUCCESS;
    number = k->flags & FORTRAN ? number_of(kind, from) : 0;
    depth = shim_let();
    if (!(k->flags & FORTRAN)) {
        out->set_as = POINTER;
        ierr = ((int (*)(void *, int, void *, void *, void *, int *, void *))k->copy)(from, a->key, (void *)(intptr_t)k->extra,
                                                                                   as_pointer(a), &out->value.pointer, there, to);
    } else if (k->flags & FORTRAN_INTEGER) {
        out->set_as = INTEGER;
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))k->copy)(
            &number, &a->key, &extra, &value, &out->value.integer, there, &ierr);
    } else {
        out->set_as = ADDRESS;
        ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *))k->copy)(
            &number, &a->key, &extra_address, &address, &out->value.address, there, &ierr);
    }
    shim_take(depth);
    return ierr;
}

/* The one set first goes first. */
int shim_attributes_copy(int kind, void *from, struct shim_attribute *list, void *to, struct shim_attribute **copies)
{
    struct shim_attribute out;
    int there, err = list ? shim_attributes_copy(kind, from, list->next, to, copies) : MPI_SUCCESS;

    if (!list || err)
        return err;
    err = call_copy(kind, from, to, list, &out, &there);
    return err || !there ? err : set(kind, to, copies, &out);
}

int shim_attributes_drop(int kind, void *object, struct shim_attribute **list)
{
    int err = MPI_SUCCESS;

    while (*list && !err)
        err = take_away(kind, object, list, (*list)->key);
    return err;
}

int shim_attributes_predefine(struct shim_attribute **list, int size)
{
    const char *program = getenv("FTMPI_APPNUM");
    const struct { int key; MPI_Fint value; } own[] = {
        {MPI_TAG_UB, INT_MAX}, {MPI_HOST, MPI_PROC_NULL}, {MPI_IO, MPI_ANY_SOURCE}, {MPI_WTIME_IS_GLOBAL, 0},
        {MPI_APPNUM, program ? atoi(program) : 0}, {MPI_LASTUSEDCODE, SHIM_LAST_CODE}, {MPI_UNIVERSE_SIZE, size},
    };
    int err = MPI_SUCCESS;

    for (size_t i = 0; i < sizeof own / sizeof *own && !err; i++)
        err = set(OF_COMM, MPI_COMM_WORLD, list, &(struct shim_attribute){.key = own[i].key, .set_as = INTEGER,
                                                                          .value.integer = own[i].value});
    return err;
}

void shim_attributes_last_code(struct shim_attribute *list, int code)
{
    struct shim_attribute *a = find(list, MPI_LASTUSEDCODE);

    if (a)
        a->value.integer = code;
}

/* Errors of the functions below, in words. */
static int failed(MPI_Comm comm, const char *me, int err, int key)
{
    if (err == MPI_ERR_KEYVAL && key >= 0 && key < FIRST)
        return shim_raise(comm, me, err, "key %d is the standard's own; programs cannot change its value", key);
    if (err == MPI_ERR_KEYVAL)
        return shim_raise(comm, me, err, "%d is not a key for such objects, or nothing is stored under it; was it freed?", key);
    return err ? shim_raise(comm, me, err, err == MPI_ERR_NO_MEM ? "no memory for an attribute" : "the program's delete function failed")
               : MPI_SUCCESS;
}

static int create_checked(const char *me, int kind, void (*copy)(void), void (*delete)(void), int *key, void *extra)
{
    int err = shim_check_running(me);

    if (!err && (!copy || !delete || !key))
        err = shim_raise(NULL, me, MPI_ERR_ARG,
                         "%s is a null pointer", copy ? delete ? "keyval" : "the delete function" : "the copy function");
    return err ? err : failed(NULL, me, create(kind, copy, delete, key, (MPI_Aint)(intptr_t)extra, 0), 0);
}

static int free_checked(const char *me, int kind, int *key)
{
    struct keyval *k = key ? user_keyval(*key) : NULL;
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!k || k->kind != kind || k->freed)
        return failed(NULL, me, MPI_ERR_KEYVAL, key ? *key : MPI_KEYVAL_INVALID);
    k->freed = true;
    release(*key);
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static int get_checked(const char *me, MPI_Comm comm, int kind, struct shim_attribute *list, int key, void *value, int *flag)
{
    struct shim_attribute *a = find(list, key);

    if (!value || !flag)
        return shim_raise(comm, me, MPI_ERR_ARG, "a null pointer to write the answer to");
    if (!is_key(kind, key))
        return failed(comm, me, MPI_ERR_KEYVAL, key);
    *flag = a != NULL;
    if (a)
        *(void **)value = as_pointer(a);
    return MPI_SUCCESS;
}

static int delete_checked(const char *me, MPI_Comm comm, int kind, void *object, struct shim_attribute **list, int key)
{
    return failed(comm, me, user_keyval(key) && is_key(kind, key) ? take_away(kind, object, list, key) : MPI_ERR_KEYVAL, key);
}

#define ATTRIBUTE(its_key, its_value) (&(struct shim_attribute){.key = its_key, .set_as = POINTER, .value.pointer = its_value})
#define KEYS(name_create, name_free, kind, copy_function, delete_function)                                                  \
    SHIM_ALIAS(int, name_create, (copy_function *copy, delete_function *delete, int *keyval, void *extra));                 \
    int PMPI_##name_create(copy_function *copy, delete_function *delete, int *keyval, void *extra)                          \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return create_checked(#name_create, kind, (void (*)(void))copy, (void (*)(void))delete, keyval, extra);             \
    }                                                                                                                       \
    SHIM_ALIAS(int, name_free, (int *keyval));                                                                              \
    int PMPI_##name_free(int *keyval)                                                                                       \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return free_checked(#name_free, kind, keyval);                                                                      \
    }
#define VALUES(name_set, name_get, name_delete, kind, handle, ok, bad, comm)                                                \
    SHIM_ALIAS(int, name_set, (handle object, int keyval, void *value));                                                    \
    int PMPI_##name_set(handle object, int keyval, void *value)                                                             \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        if (!ok(object))                                                                                                    \
            return bad(object, #name_set);                                                                                  \
        return failed(comm, #name_set, check_and_set(kind, object, &object->attributes, ATTRIBUTE(keyval, value)), keyval); \
    }                                                                                                                       \
    SHIM_ALIAS(int, name_get, (handle object, int keyval, void *value, int *flag));                                         \
    int PMPI_##name_get(handle object, int keyval, void *value, int *flag)                                                  \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return ok(object) ? get_checked(#name_get, comm, kind, object->attributes, keyval, value, flag) : bad(object, #name_get); \
    }                                                                                                                       \
    SHIM_ALIAS(int, name_delete, (handle object, int keyval));                                                              \
    int PMPI_##name_delete(handle object, int keyval)                                                                       \
    {                                                                                                                       \
        SHIM_ENTER();                                                                                                       \
                                                                                                                            \
        return ok(object) ? delete_checked(#name_delete, comm, kind, object, &object->attributes, keyval) : bad(object, #name_delete); \
    }

static bool known_type(MPI_Datatype type)
{
    return shim.stage == SHIM_RUNNING && type && type->magic == SHIM_TYPE;
}

static int bad_type(MPI_Datatype type, const char *me)
{
    int err = shim_check_running(me);

    return err ? err : shim_bad_type(NULL, me, type);
}

KEYS(Comm_create_keyval, Comm_free_keyval, OF_COMM, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
KEYS(Type_create_keyval, Type_free_keyval, OF_TYPE, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function)
KEYS(Win_create_keyval, Win_free_keyval, OF_WIN, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function)
KEYS(Keyval_create, Keyval_free, OF_COMM, MPI_Copy_function, MPI_Delete_function)
VALUES(Comm_set_attr, Comm_get_attr, Comm_delete_attr, OF_COMM, MPI_Comm, shim_comm_ok, shim_bad_comm, object)
VALUES(Attr_put, Attr_get, Attr_delete, OF_COMM, MPI_Comm, shim_comm_ok, shim_bad_comm, object)
VALUES(Type_set_attr, Type_get_attr, Type_delete_attr, OF_TYPE, MPI_Datatype, known_type, bad_type, NULL)

/* For the wrappers. `list` is what they find in the object. */
int ompi_attr_create_keyval(int kind, void (*copy)(void), void (*delete)(void), int *key, void *extra, int flags, void *unused)
{
    (void)unused;
    return create(kind, copy, delete, key, (MPI_Aint)(intptr_t)extra, flags);
}

int ompi_attr_create_keyval_fint(int kind, void (*copy)(void), void (*delete)(void), int *key, MPI_Fint extra, int flags, void *unused)
{
    (void)unused;
    return create(kind, copy, delete, key, extra, flags | FORTRAN_INTEGER);
}

int ompi_attr_create_keyval_aint(int kind, void (*copy)(void), void (*delete)(void), int *key, MPI_Aint extra, int flags, void *unused)
{
    (void)unused;
    return create(kind, copy, delete, key, extra, flags);
}

int ompi_attr_set_fint(int kind, void *object, struct shim_attribute **list, int key, MPI_Fint value, bool predefined)
{
    (void)predefined;
    return check_and_set(kind, object, list, &(struct shim_attribute){.key = key, .set_as = INTEGER, .value.integer = value});
}

int ompi_attr_set_aint(int kind, void *object, struct shim_attribute **list, int key, MPI_Aint value, bool predefined)
{
    (void)predefined;
    return check_and_set(kind, object, list, &(struct shim_attribute){.key = key, .set_as = ADDRESS, .value.address = value});
}

int ompi_attr_get_aint(struct shim_attribute *list, int key, MPI_Aint *value, int *flag)
{
    struct shim_attribute *a = find(list, key);

    if (!(key >= 0 && key < FIRST) && !user_keyval(key))
        return MPI_ERR_KEYVAL;
    *flag = a != NULL;
    if (a)
        *value = as_address(a);
    return MPI_SUCCESS;
}

int ompi_attr_get_fint(struct shim_attribute *list, int key, MPI_Fint *value, int *flag)
{
    MPI_Aint address = *value;
    int err = ompi_attr_get_aint(list, key, &address, flag);

    *value = (MPI_Fint)address;
    return err;
}
