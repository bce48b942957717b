#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""missing.py MPI_MISSING.H MISSING.H < Open MPI's header, preprocessed: writes a C program that calls each function that ftmpi has not,
by both names, with a pointer to a handle for each argument. It says what a program does not learn: the function's name from the text of
the code, the class, and null in each handle that Open MPI's prototype says is given, nowhere else."""
import re
import sys

CHANGED = {"Cancel", "Comm_disconnect", "File_close", "Request_free", "Start", "Test", "Wait", "Win_free", "Mrecv"}
KINDS = "Comm|Win|File|Request|Message|Datatype|Info|Group|Errhandler"
ARGUMENTS = 13


def prototypes(text):
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
    return {name: [a.strip() for a in arguments.split(",")]
            for name, arguments in re.findall(r"\bint\s+(MPIX?_\w+)\s*\(([^;{}]*?)\)\s*;", text, re.S)}


def given(name, arguments):
    """{argument: the null handle that belongs there}; what is only changed, or an array, is none."""
    found = {}
    for i, argument in enumerate(arguments):
        kind = re.fullmatch(rf"MPI_({KINDS})\s*\*\s*(\w+)", argument)
        if kind and name not in CHANGED and (name, kind[2]) != ("Imrecv", "message"):
            found[i] = f"MPI_{kind[1].upper()}_NULL"
    return found


def main():
    lists, names = {}, []
    for path in sys.argv[1:]:
        with open(path, encoding="ascii") as header:
            for line in header:
                if line.startswith("#define "):
                    lists[line.split("(")[0][8:].strip()] = names = []
                names += re.findall(r"^    X\((\w+)\)", line)
    known = prototypes(sys.stdin.read())
    calls, handles = [], 0
    for which, prefix in (("FTMPI_MISSING", "MPI_"), ("SHIM_MISSING_EXTENSIONS", "MPIX_")):
        for name in lists[which]:
            if prefix + name not in known:
                sys.exit(f"no prototype of {prefix}{name}")
            nulls = given(name, known[prefix + name])
            handles += len(nulls)
            for p in ("", "P"):
                text = "{" + ", ".join(f"[{i}] = {null}" for i, null in nulls.items()) + "}"
                calls.append(f'    {{ void *want[{ARGUMENTS}] = {text}; int {p}{prefix}{name}(); '
                             f'check("{prefix}{name}", {p}{prefix}{name}({", ".join(f"&h[{i}]" for i in range(ARGUMENTS))}), want); }}')
    print(f"""#include <mpi.h>
#include <stdio.h>
#include <string.h>
static void *h[{ARGUMENTS}];
static int bad, last;
static void clear(void) {{ for (int i = 0; i < {ARGUMENTS}; i++) h[i] = &bad; }}
static void check(const char *name, int code, void **want)
{{
    char text[MPI_MAX_ERROR_STRING], asked[256];
    int class = 0, n;
    snprintf(asked, sizeof asked, "ftmpi has no %s yet", name);
    if (MPI_Error_class(code, &class) || class != MPI_ERR_UNSUPPORTED_OPERATION) bad++, printf("%s: class %d\\n", name, class);
    if (code > last) bad++, printf("%s: code %d is above MPI_LASTUSEDCODE\\n", name, code);
    if (MPI_Error_string(code, text, &n) || !strstr(text, asked) || n != (int)strlen(text)) bad++, printf("%s: %s\\n", name, text);
    for (int i = 0; i < {ARGUMENTS}; i++)
        if (h[i] != (want[i] ? want[i] : (void *)&bad)) bad++, printf("%s: argument %d\\n", name, i);
    clear();
}}
int main(void)
{{
    int *code, there;
    MPI_Init(0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &code, &there);
    last = *code;
    clear();
{chr(10).join(calls)}
    printf("{len(calls)} calls, {handles} handles\\n");
    MPI_Finalize();
    return bad != 0;
}}""")


main()
