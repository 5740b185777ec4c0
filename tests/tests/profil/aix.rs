//! System V's and AIX's profil.

use crate::support::{How, with};

const PROGRAM: How = with("aix.c", &["-llibrary"]);

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
    the_index_is_the_remainder_times_the_scale
    the_high_bits_of_the_scale_are_ignored
    scale_1_has_everything_in_the_first_short
    scale_0_turns_it_off
    a_tick_is_a_sixtieth_of_a_second
    a_short_stays_at_its_highest_value
    a_buffer_that_cannot_be_written_ends_it_at_the_first_tick
    several_ranges_are_profiled_at_once
    a_scale_of_minus_1_is_computed_from_range_and_buffer
    other_scales_in_a_list_are_as_without_one
    a_list_ends_at_a_p_high_of_0
    p_high_must_ascend
    overlapping_ranges_count_in_the_first
    a_list_that_is_not_there_is_efault
    memory_of_a_list_that_goes_away_ends_it
    mon_h_has_struct_prof
}
