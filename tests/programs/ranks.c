/* A program for MPI. Rank 0 calls `counted` 1000 times, rank 1 2000 times, and so on. Rank 0 prints the number of calls
 * of all ranks. */
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) void counted(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
    long calls, all = 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (calls = 0; calls < 1000 * (rank + 1); calls++)
        counted();
    MPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\n", all);
    MPI_Finalize();
    return 0;
}
