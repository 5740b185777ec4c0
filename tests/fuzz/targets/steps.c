/* Counts the basic blocks that run: the compiler inserts a call of __sanitizer_cov_trace_pc before each. The linker's
   option --wrap leads these calls here, because libFuzzer defines the function too and refuses the calls. In Rust, the
   function would call itself: the compiler inserts the calls into all Rust code. */
#include <stdint.h>

extern uint64_t gmon_fuzz_steps;

void __wrap___sanitizer_cov_trace_pc(void);

void __wrap___sanitizer_cov_trace_pc(void)
{
	gmon_fuzz_steps++;
}
