#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh MPI.H: writes a C program that prints what every name in that header is worth. Compiled against two
# headers it shows where they differ. Handles and functions are printed as the symbol they are the address of.
set -eu
header=$1
cc=${CC:-cc}

cat <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <mpi.h>
static void symbol(const char *name, void *p)
{
    Dl_info info;
    printf("%s is %s\n", name, dladdr(p, &info) && info.dli_sname ? info.dli_sname : "no symbol");
}
static void number(const char *name, long long value) { printf("%s %lld\n", name, value); }
static void bytes(const char *name, size_t size) { printf("sizeof %s %zu\n", name, size); }
int main(void)
{
END

# Macros: predefined handles and functions by symbol; texts and numbers by value. Left out: functions with
# arguments, names removed from MPI (Open MPI's header only explains that), and names for compilers.
$cc -dM -E -x c "$header" | grep -E '^#define (MPI|IMPI|OMPI)_[A-Za-z0-9_]+ ' | sort |
while read -r _ name value; do
  case "$name $value" in
    *REMOVED*|*_INTEGER\ *removed*|OMPI_*DECLSPEC*|OMPI_MPI_*|OMPI_HAVE_*|OMPI_WANT_*|OMPI_BUILD*|OMPI_PARAM*|OMPI_OMIT*) ;;
    OMPI_CXX*|OMPI_ENABLE*|OMPI_PREDEFINED*|OMPI_OFFSET_*|*__mpi_*) ;;
    MPI_Fint*) echo "    bytes(\"MPI_Fint\", sizeof(MPI_Fint));" ;;
    *OMPI_PREDEFINED_GLOBAL*|*OMPI_C_MPI_*) echo "    symbol(\"$name\", (void *)$name);" ;;
    *) echo "    number(\"$name\", (long long)$name);" ;;
  esac
done

# Enumerators.
# shellcheck disable=SC2020
$cc -E -P -x c "$header" | tr '{},;' '\n\n\n\n' | sed 's/^ *//; s/ *=.*//; s/ *$//' |
grep -E '^(MPI|IMPI|OMPI)_[A-Z0-9_]+$' | grep -v '^OMPI_WAS_' | sort -u |
while read -r name; do echo "    number(\"$name\", (long long)$name);"; done

# Types, by size; functions of the program, by being one.
$cc -E -P -x c "$header" | grep -oE '\b(MPI_(Aint|Offset|Count|Status|Comm|Datatype|Errhandler|File|Group|Info|Op|Request|Message|Win|T_enum|T_[cp]var_handle|T_pvar_session))\b' |
sort -u | while read -r type; do echo "    bytes(\"$type\", sizeof($type));"; done
$cc -E -P -x c "$header" | grep -oE '\bMPI_[A-Za-z_]+_(function|fn)\b' | sort -u |
while read -r type; do echo "    { $type *f = 0; (void)f; }"; done

cat <<'END'
#define FIELD(f) printf("MPI_Status.%s at %zu, %zu bytes\n", #f, offsetof(MPI_Status, f), sizeof(((MPI_Status *)0)->f))
    FIELD(MPI_SOURCE); FIELD(MPI_TAG); FIELD(MPI_ERROR); FIELD(_cancelled); FIELD(_ucount);
    symbol("MPI_F_STATUS_IGNORE", (void *)&MPI_F_STATUS_IGNORE);
    symbol("MPI_F_STATUSES_IGNORE", (void *)&MPI_F_STATUSES_IGNORE);
    return 0;
}
END
