//! Functions and other code as formats for programs name them.

use crate::model::{Analysis, SamplePlace};
use crate::program::symbols::functions::FunctionId;
use crate::sink::text::text;
use crate::sources::stacks::Thread;

/// The name of code, with the place in the source if it is known.
pub(crate) struct Place {
    pub(crate) name: String,
    /// The name in the symbol table, which may be mangled; empty for code in no function.
    pub(crate) symbol: String,
    /// The source file and the line where a function begins.
    pub(crate) source: Option<(String, u32)>,
    /// The index of the function's image.
    pub(crate) image: Option<usize>,
    /// The address of the function, as the linker assigned it.
    pub(crate) address: u64,
}

impl Place {
    /// Returns what is known of a function.
    pub(crate) fn of(analysis: &Analysis<'_>, id: FunctionId) -> Place {
        let (function, source) = (analysis.function(id), analysis.source_location(id));
        Place {
            name: text(&analysis.name(id)),
            symbol: text(&analysis.shortened(function.symbol)),
            source: source.map(|source| (text(&analysis.shortened(source.file)), source.line)),
            image: Some(function.image),
            address: function.address,
        }
    }

    /// Returns what is known of the code of a frame.
    pub(crate) fn of_frame(analysis: &Analysis<'_>, place: SamplePlace<'_>) -> Place {
        let name = text(&analysis.place_name(place));
        match place {
            SamplePlace::Function(id) => Place { name, ..Place::of(analysis, id) },
            _ => Place { symbol: String::new(), name, source: None, image: None, address: 0 },
        }
    }
}

/// Returns the name of a thread, with its number. `None` is no thread.
pub(crate) fn thread(thread: Option<&Thread>) -> String {
    let Some(Thread { name, number, .. }) = thread else { return "<no thread>".to_owned() };
    let name = if name.is_empty() { "(no name)".to_owned() } else { text(name) };
    match number {
        Some(number) => format!("{name} ({number})"),
        None => name,
    }
}

/// Returns the path of an image.
pub(crate) fn image(analysis: &Analysis<'_>, image: usize) -> String {
    analysis.images().get(image).map(|image| text(image.path.as_os_str().as_encoded_bytes())).unwrap_or_default()
}
