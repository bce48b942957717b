/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/python.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ft/outcome/record.h"

/* What each Python from 3.9 on has under the same name. Its own _PyEval_SetSwitchInterval is exported up to 3.12 only, and wants the lock. */
static struct {
    int (*is_initialized)(void);
    void *(*own_state)(void);
    void *(*state)(void);
    int (*later)(int (*call)(void *), void *arg);
    void *(*system)(const char *name);
    void *(*call)(void *function, const char *format, ...);
    double (*number)(void *object);
    void (*drop)(void *object);
    void *(*error)(void);
    void (*clear)(void);
} python;

static const struct { void *to; const char *name; } names[] = {
    {&python.is_initialized, "Py_IsInitialized"}, {&python.own_state, "PyGILState_GetThisThreadState"}, {&python.later, "Py_AddPendingCall"},
    {&python.system, "PySys_GetObject"}, {&python.call, "PyObject_CallFunction"}, {&python.number, "PyFloat_AsDouble"},
    {&python.drop, "Py_DecRef"}, {&python.error, "PyErr_Occurred"}, {&python.clear, "PyErr_Clear"},
};

static const double python_has = 0.005, most = 1e6;

/* What is wanted. 0: nothing. */
static double seconds(void)
{
    const char *text = getenv("FTMPI_PYTHON_SWITCH");
    char *end = (char *)"";
    double s = text ? strtod(text, &end) : 1;

    return !*end && s > 0 ? (s < most ? s : most) : 0;
}

static bool find(void)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!(*(void **)names[i].to = dlsym(RTLD_DEFAULT, names[i].name)))
            return false;
    *(void **)&python.state = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked"); /* from 3.13 on */
    if (!python.state)
        *(void **)&python.state = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
    return python.state;
}

/* Python runs here and by this thread: up to 3.11 the state is that of who runs, after it of this thread if it does. */
static bool runs(void)
{
    void *own = python.own_state();

    return own && own == python.state() && !python.error();
}

static int set(void *unused)
{
    void *get = python.system("getswitchinterval"), *change = python.system("setswitchinterval");
    void *is = get && change ? python.call(get, NULL) : NULL;
    double now = is ? python.number(is) : 0;

    (void)unused;
    if (is)
        python.drop(is);
    if (now > python_has - 1e-9 && now < python_has + 1e-9 && (is = python.call(change, "d", seconds())))
        python.drop(is);
    if (python.error())
        python.clear();
    return 0;
}

void ft_python_first_thread(void)
{
    static bool done;

    if (done || !ft_recorder.on)
        return;
    if (seconds() <= 0 || !find()) {
        done = seconds() <= 0;
        return;
    }
    if (!python.is_initialized())
        return;
    done = true;
    if (runs())
        set(NULL);
    else
        python.later(set, NULL); /* by the main thread, soon: a library makes threads while Python's others run */
}
