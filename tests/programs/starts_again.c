/* Starts profiling by itself, although the start-up object has decided about that. */
#include <gmon.h>

extern char __executable_start, etext;

int main(void)
{
    monstartup((unsigned long)&__executable_start, (unsigned long)&etext);
    return 0;
}
