static inline __attribute__((always_inline)) int square_of_the_shared_header(int n, volatile int *sum) {
    for (int i = 0; i < n; i++) *sum += i * n;
    return *sum;
}
