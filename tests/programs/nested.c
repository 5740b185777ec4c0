/* A nested function. gcc passes the address of the enclosing frame in r10, and pushes r10 before __fentry__. */
#include <stdio.h>

typedef int callback(int);

__attribute__((noinline)) static int each(int n, callback *call) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += call(i);
    return sum;
}

__attribute__((noinline)) static int outer(int n, int factor) {
    int inner(int i) {
        return i * factor;
    }
    return each(n, inner);
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += outer(10, i);
    printf("calls outer 100\ncalls each 100\narc main outer 100\n");
    printf("calls inner.0 1000\narc each inner.0 1000\n");
    return sum != 45 * 4950;
}
