//! 4.4BSD's profil.

use crate::support::{How, plain};

const PROGRAM: How = plain("bsd.c");

trials! { PROGRAM;
    a_tick_counts_where_it_is
    nothing_counts_once_it_is_off
    a_buffer_of_no_bytes_has_no_effect
    it_is_on_in_parent_and_child_after_fork
    it_is_off_after_exec
    memory_that_is_unmapped_ends_it
    memory_that_becomes_read_only_ends_it
    all_threads_are_counted
    odd_addresses_and_sizes_are_taken_as_they_are
    places_outside_do_not_count
    the_bin_is_that_of_the_relation
    scale_1_is_a_scale
    a_scale_above_65536_is_einval_and_changes_nothing
    a_buffer_that_cannot_be_written_is_efault_and_ends_profiling
    what_is_in_the_buffer_stays
    a_count_begins_again_at_0_behind_65535
    a_tick_is_10_milliseconds
    the_buffer_is_a_series_of_16_bit_bins
    a_system_without_process_vm_writev_does_as_well
}
