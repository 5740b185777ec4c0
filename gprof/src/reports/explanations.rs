//! The texts that explain reports to readers who see a profile for the first time.

use std::io::{self, Write};

use crate::model::Analysis;
use crate::question::options::Options;

/// Writes a text that explains a report, unless the options ask for a brief report.
pub(crate) fn explain(text: &str, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if options.brief {
        return Ok(());
    }
    out.write_all(text.as_bytes())?;
    if options.errors { out.write_all(ERRORS.as_bytes()) } else { Ok(()) }
}

/// Writes the text that explains the mark of times that tail calls leave in doubt, if the report has such times.
pub(crate) fn explain_doubts(has_doubts: bool, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(if has_doubts && !options.brief { DOUBTS.as_bytes() } else { b"" })
}

/// Writes the text that explains the times of one call in the flat profile, if calls were counted on demand.
pub(crate) fn explain_on_demand(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let has_intervals = analysis.calls_on_demand().is_some_and(|calls| calls.time > 0.0 || !analysis.has_estimates());
    if analysis.lacks_calls() && has_intervals && !options.brief {
        out.write_all(ON_DEMAND.as_bytes())?;
    }
    explain_estimates(analysis, options, out)
}

/// Writes the text that explains estimated calls, if the reports have them.
pub(crate) fn explain_estimates(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(if analysis.has_estimates() && !options.brief { ESTIMATED_CALLS.as_bytes() } else { b"" })
}

/// Explains estimated calls.
const ESTIMATED_CALLS: &str = "
 ~          an estimate. Calls were counted in short windows only, each at a
            random place of its stretch of the running time. In 19 of 20
            cases, the true number of calls is not farther from the estimate
            than the percentage behind the ±. Calls that fewer than five
            windows saw have no such interval: the report has the number of
            these windows, and that of all windows. Calls that no window saw
            may have been none or few. A time of one call with a ~ is the time
            of the whole run, divided by the estimate.
";

/// Explains the times of one call, if calls were counted on demand.
const ON_DEMAND: &str = "
Calls were counted only for a part of the time. The average self time of a call
is that of this part; it is blank for functions that were not counted in all of
this part. The average total time is not known. All other times are those of
the whole run.
";

/// Explains inclusive times that are in doubt.
const DOUBTS: &str = "
 (?)       A tail call removed a function from the stack, and several functions
           may be the removed one. The function's inclusive time lies between
           the two times after the mark. The report shows the most probable.
";

/// Returns the text that explains the call graph, whose times of called functions were measured or estimated.
pub(crate) fn graph(is_measured: bool) -> String {
    [GRAPH, if is_measured { MEASURED } else { ESTIMATED }].concat()
}

/// Explains standard errors.
const ERRORS: &str = "
 error      the standard error of a self time, behind a ±: how far the time may
            be off by chance, depending on where the ticks of the clock fell.
            Two of three times are closer to the truth than their errors,
            nineteen of twenty closer than twice their errors. Blank if there
            was no tick. In a call graph without a table, the error stands
            below the self time of the entry's function.
";

/// Explains the flat profile.
pub(crate) const FLAT: &str = "
How to read the flat profile. Each row is a function, the most expensive one first.

 %          the part of the program's running time that was spent in this
time       function's own code.

cumulative the self time of this row and of all rows above it.
seconds

 self      the time in this function's own code, without the functions that it
seconds    called. The rows are sorted by this time.

calls      how often other functions called this function. Blank if no call
           was counted: the function, or its callers, were not compiled for
           profiling.

 self      the average time of one call in this function's own code.
ms/call    (The unit changes with the size of the numbers.)

 total     the average time of one call, including all functions that the call
ms/call    led to.

name       the function.

Times are measured by looking at the running program at fixed intervals. A
time that is only a few times as long as the interval is a guess.
";

/// Explains the bounds of inclusive times.
pub(crate) const BOUNDS: &str = "
How to read the bounds. Each row is a function. Its inclusive time, the time in
the function and in all that it called, lies between lower and upper, whatever
single calls cost. Rows are sorted by the upper bound.

 self      the time in the function's own code.

 lower     the time in this function and in the functions that the program
           reached through this function only.

 estimate  gprof's estimate, as in the call graph: it assumes that all calls of
           a function cost the same. Blank for a member of a cycle.

 upper     the time in all that this function could reach, and in all code that
           may have run during its calls without a counted call.

 calls     how often other functions called it. Blank if no call was counted.

 name      the function.

The bounds are about the samples of this profile. They hold if the profile has
all calls of the functions that have counted calls.
";

/// Explains the tree of calling contexts.
pub(crate) const CONTEXTS: &str = "
How to read the calling contexts. Each row is a function. The row above that is
indented less is its caller, so the rows up to the margin are the functions on
the stack. The callees of each function are sorted by their time.

 %          the part of the time of all stacks.
time

inclusive   the time during which these functions were on the stack in this
            order, with all functions that the last one called.

 self       the time in the last function's own code, called in this way.

calls       how often the caller called the function. Blank if other rows have
            the same caller and function, so that the calls of each row are not
            known, and if no call was counted.

name        the function. <cut> stands for functions that are not known,
            <outside> for code that is in no function.
";

/// Explains the tree of callers.
pub(crate) const CALLERS: &str = "
How to read the callers. A row at the margin is a function that was chosen. The
rows below that are indented by one step are its callers, the rows below these
are the callers' callers. The callers of each function are sorted by the time
for which they are responsible.

 %          the part of the time of all stacks.
time

inclusive   the time during which the chosen function was on the stack, called
            by the functions above this row and by this one.

 self       the part of this time for which no further callers are shown.

calls       in the row of a chosen function how often other functions called
            it; in the row of a direct caller how often this one called it.

name        the function. <cut> stands for functions that are not known,
            <outside> for code that is in no function.
";

/// Explains the call graph.
const GRAPH: &str = "
How to read the call graph. Dashed lines divide it into entries, one for each
function. The entry's own line begins with a number in brackets. The lines
above it are the callers of the function, the lines below it are the functions
that it called. Entries are sorted by the time of the function, including the
functions that it called.

On the line that begins with the number:

 index     the entry's number. It follows every name, so that entries can be
           found. It is in parentheses if there is no such entry.

 % time    the part of the whole time that was spent in this function and in
           the functions that it called. A function's time is also part of its
           callers' times, so these numbers do not add up to 100%.

 self      the time in the function's own code.

 children  the time of the functions that it called, as far as this function
           called them.

 called    how often other functions called it. A number after a + says how
           often it called itself.

 name      the function, and the number of its cycle if it is in a cycle.

On the lines of callers, above:

 self      the part of this function's own time that is charged to the caller.

 children  the part of the time of the functions that this function called
           that is charged to the caller.

 called    the calls from this caller, a /, and the calls from all callers.

 <spontaneous> stands where no caller is known, <outside> for callers outside
 of the program's functions.

On the lines of called functions, below, the columns are the same: the part of
the called function's time that is charged to this function, and the number of
its calls that this function made.
";

/// Explains estimated times in the call graph.
const ESTIMATED: &str = "
Time is charged to callers in proportion to the number of their calls. A
caller whose few calls take long is charged too little; a caller whose many
calls are short is charged too much.

Functions that call each other in a circle form a cycle. The time of a cycle
cannot be divided among calls within the cycle. So the cycle has an entry as a
whole, with its members below, and calls within the cycle carry no time.
";

/// Explains measured times in the call graph.
const MEASURED: &str = "
Times of called functions are measured: each sample has a stack, the chain of
callers. A sample counts once for each function on its stack, and once for each
caller of a function there. So the time of a called function is charged to the
caller that it worked for. A sample counts for those callers that its stack
shows, so times are too short where stacks are not whole or missing.

Functions that call each other in a circle form a cycle, which has an entry as
a whole, with its members below.
";

/// Explains the difference of several runs.
pub(crate) const DIFFERENCE_OF_RUNS: &str = "
How to read the difference. Each row is a function. Times and calls are means a
run. The rows with the largest changes of self time come first.

 base      the mean of the base's runs.

 now       the mean of the other runs.

 change    the mean now, less the mean of the base.

 %         the change, as a percentage of the base.

 ±         half of the confidence interval (95 %) of this percentage.

 p         the probability of such a change if nothing changed, corrected for
           the number of rows (Holm). Empty: fewer than 10 samples.

 visible   the smallest growth, in percent, that these runs show with a
           probability of 0.8.

 self      the time in the function's own code.

 inclusive the time in the function and in the functions that it called. Such a
           time is a sum of self times: the lines above name where it changed.

 calls     how often other functions called it.

 mark      slower, faster: the self time changed. noise: chance explains the
           change. few: too few samples to tell. added: the base does not have
           this function. removed: only the base has it.

 name      the function. <kernel> stands for the kernel, <outside> for code in
           no function.
";

/// Explains the difference.
pub(crate) const DIFFERENCE: &str = "
How to read the difference. Each row is a function. The rows with the largest
changes of self time come first.

 base      the number in the base.

 now       the number in the other profiles.

 change    the number now, less the number in the base.

 %         the change, as a percentage of the number in the base.

 self      the time in the function's own code.

 inclusive the time in the function and in the functions that it called. A ~
           marks a change that is noise.

 calls     how often other functions called it.

 mark      noise: the change of the self time is smaller than the number of
           standard errors above. The more functions there are, the greater is
           this number: if a program is compared with itself 1,000 times, one of
           these reports has a change that is no noise.
           added: the base does not have this function. removed: only the base
           has it.

 name      the function. <kernel> stands for the kernel, <outside> for code in
           no function.

Standard errors are those of sampling. Two runs of one program also differ
because of other programs, caches, and frequencies.
";

/// Explains inclusive times in the difference.
pub(crate) const MEASURED_CHANGES: &str = "
Inclusive times are measured: each sample has a stack.
";

/// Explains inclusive times in the difference.
pub(crate) const ESTIMATED_CHANGES: &str = "
Inclusive times are estimates from the calls of both sides, so they have no
standard errors.
";
