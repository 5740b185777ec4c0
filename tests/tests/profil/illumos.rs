//! illumos' profil.

use crate::support::{How, plain};

const PROGRAM: How = plain("illumos.c");

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
    scales_0_and_1_turn_it_off
    a_scale_above_ffff_is_einval_and_changes_nothing
    a_count_of_32767_stops_it
    a_buffer_that_cannot_be_written_ends_it_at_the_first_tick
    a_call_is_for_all_threads
    a_tick_is_10_milliseconds
    pcsample_stores_addresses_and_says_how_many
    pcsample_stops_when_there_is_no_room
    pcsample_has_errors
    pcsample_ends_when_its_memory_goes_away
    pcsample_sees_shared_objects
    profil_and_pcsample_take_each_others_place
}
