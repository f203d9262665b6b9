/* Loaded before libc into a test process. Whenever a file in $SHADOW_FROM is flushed, its content
 * is copied to $SHADOW_TO; when the folder itself is flushed, files that are gone are removed from
 * there as well. What is there at any moment is what a disk would hold after a power loss that
 * spared nothing but flushed writes. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    abort();
}

static void copy(int from, int to) {
    char buffer[65536];
    off_t offset = 0;
    for (;;) {
        ssize_t length = pread(from, buffer, sizeof buffer, offset);
        if (length < 0) fail("pread");
        if (length == 0) return;
        if (write(to, buffer, (size_t)length) != length) fail("write");
        offset += length;
    }
}

static void remove_what_is_gone(const char *from, const char *to) {
    DIR *folder = opendir(to);
    if (folder == NULL) fail("opendir");
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char live[8192], copied[8192];
        snprintf(live, sizeof live, "%s/%s", from, entry->d_name);
        snprintf(copied, sizeof copied, "%s/%s", to, entry->d_name);
        if (entry->d_type == DT_REG && access(live, F_OK) != 0) unlink(copied);
    }
    closedir(folder);
}

static void keep(int fd) {
    const char *from = getenv("SHADOW_FROM"), *to = getenv("SHADOW_TO");
    char link[64], path[4096], target[8192], unfinished[8192 + 16];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (from == NULL || to == NULL || length < 0) return;
    path[length] = '\0';
    size_t prefix = strlen(from);
    if (strcmp(path, from) == 0) remove_what_is_gone(from, to);
    if (strncmp(path, from, prefix) != 0 || path[prefix] != '/') return;
    snprintf(target, sizeof target, "%s/%s", to, path + prefix + 1);
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", target);
    int copied = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (copied < 0) fail("open");
    /* Opening the file again and closing it would give up the locks of this process on it. */
    copy(fd, copied);
    if (close(copied) != 0) fail("close");
    if (rename(unfinished, target) != 0) fail("rename");
}

/* Two threads may flush one file. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static int flush(const char *name, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (real == NULL) fail(name);
    int result = real(fd);
    if (result == 0) {
        pthread_mutex_lock(&keeping);
        keep(fd);
        pthread_mutex_unlock(&keeping);
    }
    return result;
}

int fsync(int fd) { return flush("fsync", fd); }

int fdatasync(int fd) { return flush("fdatasync", fd); }
