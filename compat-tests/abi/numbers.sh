#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# numbers.sh MPI.H: writes a C program that prints the number in Fortran of every handle in that header, which handle
# every small number is, and the name of every datatype. Run with two libraries it shows where they differ.
set -eu
say() { printf '%s\n' "    $*"; }
header=$1
cc=${CC:-cc}
declared=$($cc -E -P -x c "$header")
macros=$($cc -dM -E -x c "$header" | sed -n 's/^#define \(MPI_[A-Za-z0-9_]*\) OMPI_PREDEFINED_GLOBAL *([^,]*, *\(ompi_[a-z0-9_]*\)).*/\1 \2/p' | sort)

cat <<'END'
#include <mpi.h>
#include <stdio.h>
static void function(void *in, void *inout, int *len, MPI_Datatype *type) { (void)in, (void)inout, (void)len, (void)type; }
static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
int main(void)
{
    char text[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Datatype type, second;
    MPI_Op op;
    MPI_Errhandler errhandler;

    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
END
for pair in Comm:communicator Type:datatype Errhandler:errhandler File:file Group:group Info:info Op:op Request:request Message:message Win:win; do
  name=${pair%:*} tag=${pair#*:}
  printf '%s\n' "$macros" |
  while read -r macro object; do
    case $declared in *"struct ompi_predefined_${tag}_t $object;"*) ;; *) continue ;; esac
    say "printf(\"$macro %d\n\", (int)MPI_${name}_c2f($macro));"
    [ "$name" != Type ] || [ "$macro" = MPI_DATATYPE_NULL ] ||
      say "if (MPI_Type_get_name($macro, text, &length) == MPI_SUCCESS) printf(\"$macro is %s, %d\n\", text, length); else printf(\"$macro has no name\n\");"
  done
  case $name in Request|Group) continue ;; esac # these two have hidden ones
  say "for (int i = -2; i < 100; i++) printf(\"$name %d: %d\n\", i, MPI_${name}_f2c(i) ? (int)MPI_${name}_c2f(MPI_${name}_f2c(i)) : -99);"
done
cat <<'END'
    /* The program's own come behind, and leave their place to the next. */
    MPI_Type_contiguous(2, MPI_INT, &type);
    printf("made %d", (int)MPI_Type_c2f(type));
    MPI_Type_contiguous(3, MPI_INT, &second);
    printf(" %d", (int)MPI_Type_c2f(second));
    printf(" %d\n", MPI_Type_f2c(MPI_Type_c2f(type)) == type && MPI_Type_f2c(MPI_Type_c2f(second)) == second);
    MPI_Type_set_name(second, "three");
    MPI_Type_get_name(second, text, &length);
    printf("named %s, %d\n", text, length);
    MPI_Type_free(&type);
    MPI_Type_contiguous(4, MPI_INT, &type);
    printf("again %d\n", (int)MPI_Type_c2f(type));
    MPI_Op_create(function, 1, &op);
    printf("operation %d %d\n", (int)MPI_Op_c2f(op), MPI_Op_f2c(MPI_Op_c2f(op)) == op);
    MPI_Comm_create_errhandler(handler, &errhandler);
    printf("error handler %d %d\n", (int)MPI_Errhandler_c2f(errhandler), MPI_Errhandler_f2c(MPI_Errhandler_c2f(errhandler)) == errhandler);
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
    printf("%s, %d\n", text, length);
    MPI_Finalize();
    return 0;
}
END
