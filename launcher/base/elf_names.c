/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/elf_names.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many bytes of the file; NULL: they are not all there, or *memory. One zero byte follows them. */
static void *piece(int fd, uint64_t offset, uint64_t bytes, bool *memory)
{
    struct stat st;
    char *at;

    if (fstat(fd, &st) < 0 || offset > (uint64_t)st.st_size || bytes > (uint64_t)st.st_size - offset)
        return NULL;
    at = malloc((size_t)bytes + 1);
    if (!at) {
        *memory = true;
        return NULL;
    }
    at[bytes] = 0;
    if (pread(fd, at, (size_t)bytes, (off_t)offset) == (ssize_t)bytes)
        return at;
    free(at);
    return NULL;
}

static void walk(int fd, const ElfW(Shdr) *symbols, const ElfW(Shdr) *strings, void (*each)(void *arg, const char *name, bool here),
                 void *arg, bool *memory)
{
    ElfW(Sym) *table = piece(fd, symbols->sh_offset, symbols->sh_size, memory);
    char *texts = piece(fd, strings->sh_offset, strings->sh_size, memory);

    for (size_t i = 0; table && texts && i < symbols->sh_size / sizeof *table; i++)
        if (table[i].st_name < strings->sh_size && texts[table[i].st_name])
            each(arg, texts + table[i].st_name, table[i].st_shndx != SHN_UNDEF);
    free(table);
    free(texts);
}

bool ft_elf_names(int fd, enum ft_elf_table table, void (*each)(void *arg, const char *name, bool here), void *arg)
{
    uint32_t wanted = table == FT_ELF_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB;
    ElfW(Shdr) *sections;
    bool memory = false;
    ElfW(Ehdr) h;

    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_shentsize != sizeof *sections)
        return true;
    sections = piece(fd, h.e_shoff, (uint64_t)h.e_shnum * sizeof *sections, &memory);
    for (size_t i = 0; sections && i < h.e_shnum; i++)
        if (sections[i].sh_type == wanted && sections[i].sh_entsize == sizeof(ElfW(Sym)) && sections[i].sh_link < h.e_shnum)
            walk(fd, &sections[i], &sections[sections[i].sh_link], each, arg, &memory);
    free(sections);
    return !memory;
}
