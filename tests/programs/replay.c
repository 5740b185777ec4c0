/* A program that leaves profiles which a test has made. The first argument is a directory, and NAME is "base" or
   "new": run N leaves the files NAME.N and NAME.N.side of the directory where GMON_OUT_PREFIX says, adds NAME, N, and
   the first line of its standard input to the file `log`, and ends with the status in NAME.N.status, if there is such a
   file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What code that was compiled with -pg calls. gprof takes the program for one that profiles itself. */
void mcount(void) {}

/* A bin of a profile must not have code of both. */
__attribute__((noinline, aligned(64))) void changed(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline, aligned(64))) void steady(void) { __asm__ volatile("" ::: "memory"); }

static int copy(const char *from, const char *to)
{
    char bytes[1 << 16];
    FILE *in = fopen(from, "rb");
    if (!in)
        return 0;
    size_t length = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    FILE *out = fopen(to, "wb");
    if (!out)
        exit(99);
    fwrite(bytes, 1, length, out);
    return fclose(out) == 0;
}

__attribute__((aligned(64))) int main(int count, char **words)
{
    char path[4096], target[4096], line[256] = "", name[256] = "";
    int runs = 0, known;
    FILE *log;
    changed();
    steady();
    if (count < 2)
        return 98;
    snprintf(path, sizeof path, "%s/log", words[1]);
    if ((log = fopen(path, "r"))) {
        while (fscanf(log, "%255s %d%*[^\n]", name, &known) == 2)
            runs += !strcmp(name, NAME);
        fclose(log);
    }
    runs++;
    if (fgets(line, sizeof line, stdin))
        line[strcspn(line, "\n")] = 0;
    if (!(log = fopen(path, "a")))
        return 97;
    fprintf(log, "%s %d [%s]\n", NAME, runs, line);
    fclose(log);
    const char *prefix = getenv("GMON_OUT_PREFIX");
    for (int side = 0; prefix && side < 2; side++) {
        snprintf(path, sizeof path, "%s/%s.%d%s", words[1], NAME, runs, side ? ".side" : "");
        snprintf(target, sizeof target, "%s.%d%s", prefix, (int)getpid(), side ? ".side" : "");
        copy(path, target);
    }
    snprintf(path, sizeof path, "%s/%s.%d.status", words[1], NAME, runs);
    int status = 0;
    if ((log = fopen(path, "r"))) {
        if (fscanf(log, "%d", &status) != 1)
            status = 96;
        fclose(log);
        fprintf(stderr, "replay: no more\n");
    }
    return status;
}
