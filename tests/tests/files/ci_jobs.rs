//! The jobs of docs/ci.md, which a validator compares with the schemas that GitHub and GitLab publish. The validator is
//! check-jsonschema, which has a copy of both schemas.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::clients::installed;

/// The headings in docs/ci.md, the validator's names of the schemas, and a key with a spelling that the system does not
/// know.
const JOBS: [(&str, &str, [&str; 2]); 2] = [
    ("## GitHub Actions", "vendor.github-workflows", ["runs-on:", "run-on:"]),
    ("## GitLab", "vendor.gitlab-ci", ["  artifacts:", "  artefacts:"]),
];

/// The code block behind a heading, without its indentation.
fn block(document: &str, heading: &str) -> String {
    let section = document.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("no {heading}")).1;
    let lines = section.lines().skip_while(|line| !line.starts_with("    "));
    let lines = lines.take_while(|line| line.starts_with("    ") || line.is_empty());
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

/// Catches a key that the system does not know, a value of another kind, and text that is not YAML.
#[test]
fn the_jobs_have_the_published_schemas() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ci.md");
    let document = fs::read_to_string(document).unwrap();
    let place = gmon_tests::directory("ci_jobs");
    let jobs = JOBS.map(|(heading, schema, spellings)| {
        let job = block(&document, heading);
        for part in ["gprof --repeat", "--against=", "--format=markdown", "changes.md", "artifact"] {
            assert!(job.contains(part), "{heading}: no {part} in {job}");
        }
        (schema, job, spellings)
    });
    let Some(validator) = installed("python/bin/check-jsonschema") else { return };
    let validate = |schema: &str, job: &str| {
        let file = place.join(format!("{schema}.yml"));
        fs::write(&file, job).unwrap();
        let output = Command::new(&validator).args(["--builtin-schema", schema]).arg(&file).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (schema, job, [right, wrong]) in jobs {
        let (is_valid, said) = validate(schema, &job);
        assert!(is_valid, "{schema}: {said}\n{job}");
        // A validator that accepts everything is none.
        assert!(job.contains(right) && !validate(schema, &job.replacen(right, wrong, 1)).0, "{schema}: {wrong}");
    }
}
