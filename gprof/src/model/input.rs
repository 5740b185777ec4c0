//! The input of an analysis.

use std::sync;

use gmon::{Arc, Profile};

use super::contexts;
use super::contexts::build::InlinedAt;
use super::contexts::call_sites::CallSites;
use super::contexts::tree::Contexts;
use super::line_times::LineTimes;
use super::selection::Selections;
use crate::program::image::ProgramCode;
use crate::program::image::address_space::Images;
use crate::program::symbols::file_map::ObjectFiles;
use crate::program::symbols::functions::Functions;
use crate::program::symbols::inlines::{InlineStacks, Inlined, InlinedCode};
use crate::program::symbols::sources::Sources;
use crate::question::options::Options;
use crate::question::reports::Wanted;
use crate::sources::Loaded;
use crate::sources::stacks::Stacks;

/// The input of an analysis. All parts of the analysis follow from the input.
pub(super) struct Input<'data> {
    /// The functions of all images.
    pub(super) functions: sync::Arc<Functions<'data>>,
    /// All that was read.
    pub(super) loaded: &'data Loaded,
    /// What the user asked for.
    pub(super) options: &'data Options,
    /// The reports to write.
    pub(super) wanted: Wanted,
    /// The functions and arcs that the user selected.
    pub(super) selections: Selections,
    /// The sum of all profiles.
    pub(super) profile: &'data Profile,
    /// The stacks of the samples, if there are any.
    pub(super) stacks: Option<StackInput<'data>>,
    /// The object files, if the user has a map of these (`-R`).
    pub(super) object_files: Option<ObjectFiles<'data>>,
    /// The source locations of functions; empty if neither a selection nor a report needs locations.
    pub(super) sources: Sources,
    /// The inlined functions, if reports show these (`--inlines`).
    pub(super) inlined: Option<Inlined<'data>>,
    /// The inlined calls that lead to each line (`-l --inlines`).
    pub(super) inline_stacks: InlineStacks<'data>,
    /// The self times of source lines, if a report shows these.
    pub(super) line_times: LineTimes,
}

/// The stacks, with the code that explains them.
pub(super) struct StackInput<'data> {
    pub(super) stacks: &'data Stacks,
    pub(super) code: ProgramCode<'data>,
    /// The calls of all threads: those of the profile, or more.
    pub(super) all_calls: &'data [Arc],
}

impl<'data> StackInput<'data> {
    pub(super) fn sites<'a, 's>(&'a self, functions: &'a Functions<'s>) -> CallSites<'a, 's> {
        CallSites::new(self.all_calls, functions, self.code.clone())
    }

    /// Returns the tree of calling contexts, and the names of inlined functions in it: those of the images, if any are
    /// given.
    pub(super) fn contexts(
        &self,
        functions: &Functions<'_>,
        images: Option<&'data Images<'data>>,
    ) -> (Contexts, Vec<&'data [u8]>) {
        let code = images.map(InlinedCode::new);
        let inlined_at = code.as_ref().map(|code| |address: u64| code.at(address));
        let inlined_at = inlined_at.as_ref().map(|find| find as &InlinedAt<'_, 'data>);
        contexts::build::with_inlined(self.stacks, functions, &self.sites(functions), inlined_at)
    }
}

impl<'data> Input<'data> {
    /// Takes what was loaded, without source lines and inlined functions.
    pub(super) fn new(
        functions: sync::Arc<Functions<'data>>,
        loaded: &'data Loaded,
        options: &'data Options,
        wanted: Wanted,
        selections: Selections,
    ) -> Input<'data> {
        let all_calls = loaded.all_calls();
        Input {
            functions,
            loaded,
            options,
            wanted,
            selections,
            profile: loaded.profile(),
            stacks: loaded.stacks().map(|stacks| StackInput { stacks, code: loaded.code(), all_calls }),
            object_files: None,
            sources: Sources::default(),
            inlined: None,
            inline_stacks: InlineStacks::new(),
            line_times: LineTimes::default(),
        }
    }
}
