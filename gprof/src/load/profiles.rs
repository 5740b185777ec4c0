//! The profiles of all runs.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use gmon::{Accumulator, Form, Hints, Histogram, Profile};

use crate::cli::options::{Contents, ProfilePath};
use crate::error::Error;
use crate::image::Image;
use crate::load::profile_file::FileInfo;
use crate::load::{address_mismatch, profile_file};
use crate::terminal::progress::Progress;

/// How many profiles are worth a thread of their own.
const WORTH_A_THREAD: usize = 8;

/// What is known of all profiles.
#[derive(Default)]
pub(crate) struct Runs {
    /// What they have room for.
    pub(crate) contents: Contents,
    /// What each consists of.
    pub(crate) files: Vec<FileInfo>,
    /// One bin for each that has samples: what can be added up there can stand in one report.
    alike: Accumulator,
}

impl Runs {
    /// Reads the profiles of one image, in the form that they are said to have, and gives their sum.
    ///
    /// # Errors
    ///
    /// When one cannot be read or is no profile, or does not go with those before, of this image or another.
    pub(crate) fn read(
        &mut self,
        form: Option<Form>,
        sources: &[ProfilePath],
        image: &Image<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Profile, Error> {
        let hints = Hints { form, word: Some(image.word), order: Some(image.order) };
        let reading = Reading { hints, code: image.code.clone(), done: AtomicUsize::new(0) };
        // Where the threads' sums do not go together, or one found a fault, one after the other tells which file it is.
        let batch = match reading.side_by_side(sources, &self.alike, progress) {
            Some(batch) => batch,
            None => {
                reading.done.store(0, Relaxed);
                reading.batch(sources, &self.alike, &mut |news| tell(&news, sources.len(), progress))?
            }
        };
        self.contents.samples |= batch.contents.samples;
        self.contents.calls |= batch.contents.calls;
        self.files.extend(batch.files);
        self.alike = batch.alike;
        Ok(batch.sum.finish())
    }
}

/// What is told while profiles are read.
enum News {
    /// So many are done.
    Done(usize),
    /// What speaks against one's being of this program.
    Mismatch(String),
}

fn tell(news: &News, all: usize, progress: &mut Progress<'_>) {
    match news {
        News::Done(done) => progress.count("reading profiles", *done, all),
        News::Mismatch(mismatch) => {
            // Where even a warning cannot be written, nobody is left to be told.
            let _ = writeln!(progress, "gprof: warning: {mismatch}");
        }
    }
}

/// The sum of some profiles, and what is known of them.
#[derive(Default)]
struct Batch {
    sum: Accumulator,
    alike: Accumulator,
    contents: Contents,
    files: Vec<FileInfo>,
}

impl Batch {
    /// Adds profiles that were read after these; nothing when they do not go together.
    fn append(&mut self, later: Batch) -> Option<()> {
        self.sum.add(later.sum.finish()).ok()?;
        self.alike.add(later.alike.finish()).ok()?;
        self.contents.samples |= later.contents.samples;
        self.contents.calls |= later.contents.calls;
        self.files.extend(later.files);
        Some(())
    }
}

/// How profiles are read.
struct Reading {
    hints: Hints,
    /// Where the program's code lies.
    code: Range<u64>,
    /// How many were read.
    done: AtomicUsize,
}

impl Reading {
    /// Reads profiles one after the other, and tells about it.
    fn batch(&self, sources: &[ProfilePath], alike: &Accumulator, tell: &mut dyn FnMut(News)) -> Result<Batch, Error> {
        let mut batch = Batch { alike: alike.clone(), ..Batch::default() };
        for source in sources {
            tell(News::Done(self.done.load(Relaxed)));
            let (profile, has, files) = profile_file::profile(source, &self.hints)?;
            batch.files.push(files);
            batch.contents.samples |= has.samples;
            batch.contents.calls |= has.calls;
            if let Some(mismatch) = address_mismatch::find(&profile, &self.code) {
                tell(News::Mismatch(format!("{source}: {mismatch}")));
            }
            let fail = |error| Error::Profile { file: source.to_string(), source: error };
            // Histograms of different images need not have bins of one size, but their samples must be as long.
            let unit = |first: &Histogram| Histogram { lowpc: 0, highpc: 1, bins: vec![0], signed: false, ..*first };
            let histograms = profile.histograms.first().map(unit).into_iter().collect();
            batch.sum.add(profile).map_err(fail)?;
            batch.alike.add(Profile { histograms, ..Profile::default() }).map_err(fail)?;
            self.done.fetch_add(1, Relaxed);
        }
        Ok(batch)
    }

    /// Reads many profiles on all cores, each a part of the list. Nothing comes of it when they are few, when one may be
    /// read only once, or when anything is wrong with them.
    fn side_by_side(&self, sources: &[ProfilePath], alike: &Accumulator, progress: &mut Progress<'_>) -> Option<Batch> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(sources.len() / WORTH_A_THREAD);
        if threads < 2 || !sources.iter().all(is_file) {
            return None;
        }
        let mut parts = sources.chunks(sources.len().div_ceil(threads));
        let first = parts.next()?;
        // What is to be said is said in the order of the list, when it is sure that all goes well.
        let read = |part| {
            let mut news = Vec::new();
            let batch =
                self.batch(part, alike, &mut |told| news.extend(matches!(told, News::Mismatch(_)).then_some(told)));
            batch.ok().map(|batch| (batch, news))
        };
        let (all, news) = thread::scope(|scope| {
            let others: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
            let mut news = Vec::new();
            let mut all = self.batch(first, alike, &mut |told| match told {
                News::Done(_) => tell(&told, sources.len(), progress),
                News::Mismatch(_) => news.push(told),
            });
            for other in others {
                let (later, more) = other.join().ok()??;
                news.extend(more);
                all.as_mut().ok()?.append(later)?;
            }
            Some((all.ok()?, news))
        })?;
        for mismatch in news {
            tell(&mismatch, sources.len(), progress);
        }
        Some(all)
    }
}

/// Whether a profile is in a file that can be read again.
fn is_file(source: &ProfilePath) -> bool {
    matches!(source, ProfilePath::File(path) if fs::metadata(path).is_ok_and(|kind| kind.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Terminal;
    use gmon::{Arc, Encoding, Form, Order, Word};

    /// Profiles of one image in files, each with calls of its own and with those of all.
    fn files(count: u64) -> (std::path::PathBuf, Vec<ProfilePath>) {
        let directory = std::env::temp_dir().join(format!("gprof-runs-{}-{count}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let sources = (0..count).map(|number| {
            let own = Arc { frompc: 0x1000, selfpc: 0x2000 + number, count: number + 1 };
            let arcs = vec![own, Arc { frompc: 0x1000, selfpc: 0x1100, count: 1 }];
            let encoding = Encoding { form: Form::Gnu, word: Word::W64, order: Order::Little };
            let path = directory.join(number.to_string());
            fs::write(&path, gmon::write(&Profile { arcs, ..Profile::default() }, encoding).unwrap()).unwrap();
            ProfilePath::File(path)
        });
        let sources = sources.collect();
        (directory, sources)
    }

    fn reading() -> Reading {
        let hints = Hints { form: None, word: Some(Word::W64), order: Some(Order::Little) };
        Reading { hints, code: 0x1000..0x9000, done: AtomicUsize::new(0) }
    }

    #[test]
    fn threads_come_to_the_same_as_one_after_the_other() {
        let (directory, sources) = files(100);
        let alone = reading().batch(&sources, &Accumulator::default(), &mut |_: News| {}).unwrap();
        let clock = || std::time::Duration::ZERO;
        let mut nowhere = std::io::sink();
        let mut progress = Progress::new(&mut nowhere, &Terminal::default(), &clock);
        if let Some(together) = reading().side_by_side(&sources, &Accumulator::default(), &mut progress) {
            assert_eq!(together.sum.finish(), alone.sum.finish());
            let names = |files: &[FileInfo]| files.iter().map(|part| part.file.clone()).collect::<Vec<_>>();
            assert_eq!(names(&together.files), names(&alone.files));
        }
        // One that is damaged is found by whoever reads one after the other.
        let ProfilePath::File(path) = &sources[60] else { unreachable!() };
        fs::write(path, b"gmon").unwrap();
        assert!(reading().side_by_side(&sources, &Accumulator::default(), &mut progress).is_none());
        let wrong = reading().batch(&sources, &Accumulator::default(), &mut |_: News| {}).err().unwrap();
        assert!(wrong.to_string().contains(&path.display().to_string()), "{wrong}");
        fs::remove_dir_all(directory).unwrap();
    }
}
