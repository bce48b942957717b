/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/elf.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS = 128, NEEDED = 1024, ENTRIES = 4096 };

#if UINTPTR_MAX > UINT32_MAX
#define OUR_CLASS ELFCLASS64
#else
#define OUR_CLASS ELFCLASS32
#endif

struct file {
    int fd;
    ElfW(Phdr) segments[SEGMENTS];
    size_t n;
};

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86_64"}, {EM_386, "i386"},     {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},
                 {EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"},  {EM_S390, "s390"},       {EM_MIPS, "mips"}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "?";
}

static bool read_at(const struct file *f, uint64_t offset, void *to, size_t size)
{
    return offset < INT64_MAX && pread(f->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* A string in the file, cut at size. */
static void read_text(const struct file *f, uint64_t offset, char *text, size_t size)
{
    ssize_t n = offset < INT64_MAX ? pread(f->fd, text, size - 1, (off_t)offset) : -1;

    text[n < 0 ? 0 : n] = 0;
}

static const ElfW(Phdr) *segment(const struct file *f, uint32_t type)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->segments[i].p_type == type)
            return &f->segments[i];
    return NULL;
}

/* What is loaded of it lies beyond its end. */
static bool is_cut(const struct file *f)
{
    struct stat st;

    for (size_t i = 0; i < f->n && !fstat(f->fd, &st) && S_ISREG(st.st_mode); i++) {
        const ElfW(Phdr) *s = &f->segments[i];

        if (s->p_type == PT_LOAD && (s->p_filesz > (uint64_t)st.st_size || s->p_offset > (uint64_t)st.st_size - s->p_filesz))
            return true;
    }
    return false;
}

/* Where an address of the program lies in its file; UINT64_MAX: nowhere. */
static uint64_t offset_of(const struct file *f, uint64_t address)
{
    for (size_t i = 0; i < f->n; i++) {
        const ElfW(Phdr) *s = &f->segments[i];

        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return UINT64_MAX;
}

/* Open MPI's library has been libmpi.so.40 since its version 3. */
bool ft_elf_is_mpich(const char *name)
{
    return !strncmp(name, "libmpich.so", 11) || !strcmp(name, "libmpi.so.12");
}

static bool is_sanitizer(const char *name)
{
    return !strncmp(name, "libasan.so", 10) || !strncmp(name, "libtsan.so", 10) || !strncmp(name, "libclang_rt.", 12);
}

/* What it needs that matters: who made it. */
static void read_needed(const struct file *f, struct ft_elf *elf)
{
    const ElfW(Phdr) *dynamic = segment(f, PT_DYNAMIC);
    uint64_t needed[NEEDED], strings = UINT64_MAX;
    char name[FT_ELF_NAME];
    size_t n = 0;
    ElfW(Dyn) d;

    if (!dynamic)
        return;
    elf->dynamic = true;
    for (size_t i = 0; i < ENTRIES && (i + 1) * sizeof d <= dynamic->p_filesz; i++) {
        if (!read_at(f, dynamic->p_offset + i * sizeof d, &d, sizeof d) || d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_STRTAB)
            strings = offset_of(f, d.d_un.d_ptr);
        else if (d.d_tag == DT_NEEDED && n < NEEDED)
            needed[n++] = d.d_un.d_val;
    }
    for (size_t i = 0; i < n && strings != UINT64_MAX; i++) {
        read_text(f, strings + needed[i], name, sizeof name);
        elf->sanitized |= is_sanitizer(name);
        if (ft_elf_is_mpich(name) && !*elf->mpich)
            memcpy(elf->mpich, name, sizeof name);
    }
}

void ft_elf_read(int fd, struct ft_elf *elf)
{
    struct file f = {.fd = fd};
    const ElfW(Phdr) *interpreter;
    ElfW(Ehdr) h;

    memset(elf, 0, sizeof *elf);
    elf->machine = "?";
    if (!read_at(&f, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG))
        return;
    elf->is_elf = true;
    elf->machine = machine_name(h.e_machine); /* at the same place in both classes, and in our byte order or nonsense */
    elf->ours = h.e_ident[EI_CLASS] == OUR_CLASS && !strcmp(elf->machine, ft_elf_machine());
    if (!elf->ours || h.e_phentsize != sizeof f.segments[0] || h.e_phnum > SEGMENTS ||
        !read_at(&f, h.e_phoff, f.segments, h.e_phnum * sizeof f.segments[0]))
        return;
    f.n = h.e_phnum;
    elf->cut = is_cut(&f);
    interpreter = segment(&f, PT_INTERP);
    if (interpreter)
        read_text(&f, interpreter->p_offset, elf->interpreter, sizeof elf->interpreter);
    read_needed(&f, elf);
}

const char *ft_elf_machine(void)
{
#if defined(__x86_64__)
    return machine_name(EM_X86_64);
#elif defined(__aarch64__)
    return machine_name(EM_AARCH64);
#elif defined(__i386__)
    return machine_name(EM_386);
#elif defined(__riscv)
    return machine_name(EM_RISCV);
#elif defined(__powerpc64__)
    return machine_name(EM_PPC64);
#else
    return "this machine";
#endif
}
