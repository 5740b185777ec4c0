// Memory, strings and output of test programs.
#include "bsd.h"

void *memcpy(void *to, const void *from, size_t size) {
    for (size_t at = 0; at < size; at++) ((volatile char *)to)[at] = ((const char *)from)[at];
    return to;
}

void *memset(void *to, int byte, size_t size) {
    for (size_t at = 0; at < size; at++) ((volatile char *)to)[at] = (char)byte;
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    if (to <= from) return memcpy(to, from, size);
    while (size--) ((volatile char *)to)[size] = ((const char *)from)[size];
    return to;
}

int bcmp(const void *one, const void *other, size_t size) {
    for (size_t at = 0; at < size; at++)
        if (((const volatile char *)one)[at] != ((const volatile char *)other)[at]) return 1;
    return 0;
}

int memcmp(const void *one, const void *other, size_t size) {
    for (size_t at = 0; at < size; at++)
        if (((const volatile u8 *)one)[at] != ((const volatile u8 *)other)[at]) return ((const u8 *)one)[at] - ((const u8 *)other)[at];
    return 0;
}

size_t strlen(const char *string) {
    size_t length = 0;
    while (((const volatile char *)string)[length]) length++;
    return length;
}

int strcmp(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return (u8)*one - (u8)*other;
}

char *getenv(const char *name) {
    size_t length = strlen(name);
    for (char **entry = environ; entry && *entry; entry++) {
        size_t at = 0;
        while (at < length && (*entry)[at] == name[at]) at++;
        if (at == length && (*entry)[at] == '=') return *entry + length + 1;
    }
    return NULL;
}

void say(const char *text) { write(1, text, strlen(text)); }

void say_number(const char *name, long number) {
    char line[80], digits[24];
    size_t length = 0, count = 0;
    u64 rest = number < 0 ? -(u64)number : (u64)number;
    while (name[length] && length < 40) line[length] = name[length], length++;
    line[length++] = ' ';
    if (number < 0) line[length++] = '-';
    do digits[count++] = (char)('0' + rest % 10); while (rest /= 10);
    while (count) line[length++] = digits[--count];
    line[length++] = '\n';
    write(1, line, length);
}

void failed(const char *what, int number) {
    write(2, "failed: ", 8);
    write(2, what, strlen(what));
    write(2, "\n", 1);
    say_number("failed at line", number);
    _exit(99);
}
