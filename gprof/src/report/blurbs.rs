//! The texts that explain reports to readers who see a profile for the first time.

use std::io::{self, Write};

use crate::cli::options::Options;

/// Writes a text that explains a report, unless the options ask for a brief report.
pub(super) fn explain(text: &str, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if options.brief {
        return Ok(());
    }
    out.write_all(text.as_bytes())?;
    if options.errors { out.write_all(ERRORS.as_bytes()) } else { Ok(()) }
}

/// Explains standard errors.
const ERRORS: &str = "
 error      the standard error of a self time, behind a ±: how far it may be off
            by the chance of where the ticks of the clock fell. Two of three
            times are closer to the truth than that, nineteen of twenty closer
            than twice that. It is blank when there was no tick at all. In the
            call graph that is no table, it stands below the self time of the
            entry's function.
";

/// Explains the flat profile.
pub(super) const FLAT: &str = "
How to read the flat profile. Each row is a function, the most expensive one first.

 %          the part of the program's whole running time that was spent in
time       this function's own code.

cumulative the time of this row and of all rows above it together.
seconds

 self      the time in this function's own code, without what it called.
seconds    Rows are sorted by it.

calls      how often other functions called this one. Blank when it was never
           seen to be called: it was not compiled for profiling, or what
           called it was not.

 self      the average time of one call in this function's own code.
ms/call    (The unit changes with the size of the numbers.)

 total     the average time of one call, with all that it called in turn.
ms/call

name       the function.

Times are measured by looking at the running program at fixed intervals. A
time that is only a few times as long as the interval is a guess.
";

/// Explains the call graph.
pub(super) const GRAPH: &str = "
How to read the call graph. Dashed lines divide it into entries, one for each
function; the entry's own line begins with a number in brackets. The lines
above it are the functions that called this one, the lines below it those that
it called. Entries are sorted by the time of the function with all that it
called.

On the line that begins with the number:

 index     the entry's number. It stands behind every name, so that entries
           can be found; in parentheses when there is no such entry.

 % time    the part of the whole time that passed in this function and in
           what it called. What calls others shares their time, so these do
           not add up to 100%.

 self      the time in the function's own code.

 children  the time of what it called, as far as this function caused it.

 called    how often others called it; behind a + how often it called itself.

 name      the function; the number of its cycle, if it is in one.

On the lines of callers, above:

 self      the part of this function's own time that is put down to the
           caller.

 children  the same for the time of what this function called.

 called    the calls from this caller, and behind the / all calls from others.

 <spontaneous> stands where no caller is known, <outside> for callers that are
 no functions of the program.

On the lines of called functions, below, the columns are the same, seen from
the other side: what of the called function's time is put down to this one, and
how many of its calls this one made.

Time is put down to callers by the number of their calls alone. One that calls
rarely but asks for much work gets too little, one that calls often for little
gets too much.

Functions that call each other in a circle form a cycle. Their time cannot be
told apart by callers, so that the cycle has an entry as a whole, with its
members below, and calls within it carry no time.
";
