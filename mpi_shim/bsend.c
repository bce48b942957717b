/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends (MPI 3.1 sections 3.4, 3.6). The program's buffer says how much may be under way; the copies lie elsewhere.
   Each takes its bytes and MPI_BSEND_OVERHEAD of the room, until its send is over. The engine is asked only when there is no
   room left: what it answers is written down. */
#include <stdlib.h>

#include "ft/base/util.h"
#include "mpi_shim/request.h"

struct copy {
    struct copy *next;
    struct ft_request *sending;
    uint64_t takes;
    char bytes[];
};

static struct {
    void *buffer;               /* NULL: none is attached */
    int size;
    uint64_t taken;
    struct copy *first, **end;  /* in the order of their sends */
} attached;

static void drop_first(void)
{
    struct copy *copy = attached.first;

    ft_request_end(shim.ft, copy->sending);
    attached.taken -= copy->takes;
    attached.first = copy->next;
    if (!copy->next)
        attached.end = &attached.first;
    free(copy);
}

/* Until there is room, or the oldest is not over. */
static bool find_room(uint64_t takes, uint64_t site)
{
    struct ft_error e;
    bool over = true;

    if (takes > (uint64_t)attached.size)
        return false;
    while (attached.taken + takes > (uint64_t)attached.size) {
        shim_finish(ft_test_all(shim.ft, &attached.first->sending, 1, &over, site, &e), &e);
        if (!over)
            return false;
        drop_first();
    }
    return true;
}

static int no_room(MPI_Comm comm, const char *me, uint64_t takes)
{
    unsigned long long left = (uint64_t)attached.size - attached.taken;

    if (!attached.buffer)
        return shim_raise(comm, me, MPI_ERR_BUFFER, "no buffer is attached; call MPI_Buffer_attach first");
    return shim_raise(comm, me, MPI_ERR_BUFFER,
                      "%llu byte%s, MPI_BSEND_OVERHEAD included, do not fit into the attached buffer: %llu of %d are free",
                      (unsigned long long)takes, ft_plural(takes), left, attached.size);
}

int shim_bsend(MPI_Comm comm, const char *me, const void *buffer, uint64_t n, struct ft_type type, int dest, int tag, uint64_t site)
{
    uint64_t bytes = n * type.elem, takes = bytes + MPI_BSEND_OVERHEAD;
    struct ft_error e;
    struct copy *copy;
    int err;

    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (bytes == 0) { /* needs no room, and is over at once or may go on by itself */
        struct ft_request *sending;

        err = ft_send_start(shim.ft, &comm->members, buffer, n, type, dest, tag, FT_SEND_STANDARD, site, &sending, &e);
        if (err)
            return shim_message_failed(comm, me, err, &e);
        ft_request_end(shim.ft, sending);
        return MPI_SUCCESS;
    }
    if (!attached.buffer || !find_room(takes, site))
        return no_room(comm, me, takes);
    copy = malloc(sizeof *copy + bytes);
    if (!copy)
        return shim_raise(comm, me, MPI_ERR_NO_MEM, "no memory for %llu byte%s", (unsigned long long)bytes, ft_plural(bytes));
    ft_layout_pack(type.layout, buffer, 0, bytes, copy->bytes);
    type.layout = NULL;
    err = ft_send_start(shim.ft, &comm->members, copy->bytes, n, type, dest, tag, FT_SEND_STANDARD, site, &copy->sending, &e);
    if (err) {
        free(copy);
        return shim_message_failed(comm, me, err, &e);
    }
    copy->next = NULL;
    copy->takes = takes;
    attached.taken += takes;
    *attached.end = copy;
    attached.end = &copy->next;
    return MPI_SUCCESS;
}

SHIM_ALIAS(int, Bsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    SHIM_ENTER();
    const char *me = "Bsend";
    int err = shim_check_send(comm, me, buf, count, datatype, dest, tag);

    return err ? err : shim_bsend(comm, me, buf, (uint64_t)count * datatype->per, shim_base(datatype), dest, tag, SHIM_SITE());
}

SHIM_ALIAS(int, Buffer_attach, (void *buffer, int size));
int PMPI_Buffer_attach(void *buffer, int size)
{
    SHIM_ENTER();
    const char *me = "Buffer_attach";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!buffer || size < 0)
        return shim_raise(NULL, me, MPI_ERR_ARG, buffer ? "size is %d; it must be 0 or more" : "the buffer is a null pointer (size %d)",
                          size);
    if (attached.buffer)
        return shim_raise(NULL, me, MPI_ERR_BUFFER, "a buffer of %d bytes is attached already; call MPI_Buffer_detach first",
                          attached.size);
    attached.buffer = buffer;
    attached.size = size;
    attached.taken = 0;
    attached.end = &attached.first;
    return MPI_SUCCESS;
}

void shim_bsend_finish(uint64_t site)
{
    struct ft_error e;

    while (attached.first) {
        shim_finish(ft_wait_all(shim.ft, &attached.first->sending, 1, site, &e), &e);
        drop_first();
    }
}

SHIM_ALIAS(int, Buffer_detach, (void *buffer, int *size));
int PMPI_Buffer_detach(void *buffer, int *size)
{
    SHIM_ENTER();
    const char *me = "Buffer_detach";
    int err = shim_check_running(me);

    if (err)
        return err;
    if (!buffer || !size)
        return shim_raise(NULL, me, MPI_ERR_ARG, "a null pointer to write the buffer's %s to", buffer ? "size" : "address");
    if (!attached.buffer)
        return shim_raise(NULL, me, MPI_ERR_BUFFER, "no buffer is attached");
    shim_bsend_finish(SHIM_SITE());
    *(void **)buffer = attached.buffer;
    *size = attached.size;
    attached.buffer = NULL;
    return MPI_SUCCESS;
}
