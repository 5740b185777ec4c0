/* See same_one.c. */
static volatile unsigned long sink;

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

void other_file(int n)
{
    work(n);
}
