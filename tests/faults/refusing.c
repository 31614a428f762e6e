/* A file system with a quota, or without locks: to be preloaded into the programs of a run.

   REFUSING=quota: where the system says that a disk is full, it says that the quota is used up.
   REFUSING=locks: no file below the folder BELOW can be locked.
   What is refused is noted in the file REFUSED, a line each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int mode(const char *name)
{
    const char *wanted = getenv("REFUSING");
    return wanted && !strcmp(wanted, name);
}

static void refuse(int number, const char *what)
{
    int file = open(getenv("REFUSED"), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0) {
        dprintf(file, "%s\n", what);
        close(file);
    }
    errno = number;
}

static ssize_t written(ssize_t result)
{
    if (result < 0 && errno == ENOSPC && mode("quota"))
        refuse(EDQUOT, "space");
    return result;
}

ssize_t write(int file, const void *from, size_t n)
{
    return written(REAL(write)(file, from, n));
}

ssize_t pwrite64(int file, const void *from, size_t n, off64_t at)
{
    return written(REAL(pwrite64)(file, from, n, at));
}

static int lockless(int file)
{
    char link[64], path[4096];
    const char *below = getenv("BELOW");
    if (!mode("locks") || !below)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0 || strncmp(path, below, strlen(below)))
        return 0;
    refuse(ENOLCK, "lock");
    return 1;
}

int flock(int file, int operation)
{
    return lockless(file) ? -1 : REAL(flock)(file, operation);
}

#define FCNTL(name)                                                          \
    int name(int file, int command, ...)                                     \
    {                                                                        \
        va_list rest;                                                        \
        va_start(rest, command);                                             \
        void *given = va_arg(rest, void *);                                  \
        va_end(rest);                                                        \
        int locks = command == F_SETLK || command == F_SETLKW                \
            || command == F_OFD_SETLK || command == F_OFD_SETLKW;            \
        return locks && lockless(file) ? -1 : REAL(name)(file, command, given); \
    }

FCNTL(fcntl)
FCNTL(fcntl64)
