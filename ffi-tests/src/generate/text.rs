//! Line breaking for generated comments and argument lists.

/// Breaks `words` into lines of at most `width` characters.
pub fn fill<'a>(words: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The paragraphs of a documentation text, each refilled to `width`, with an empty line between them.
pub fn paragraphs(docs: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in docs.trim().split("\n\n") {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(fill(paragraph.split_whitespace(), width));
    }
    lines
}

/// The documentation of a call, with its support where that is not full.
pub fn documentation(call: &kirin::symbols::Call) -> String {
    use kirin::symbols::Support;
    // `concat!` joins the table's lines with the blank that follows each `///`.
    let docs: Vec<&str> = call.docs.lines().map(str::trim).collect();
    let docs = docs.join("\n");
    let docs = docs.trim();
    match call.support {
        Support::Implemented => docs.to_owned(),
        Support::Accepted(reason) => format!("{docs}\n\nAccepted without effect: {reason}."),
        Support::Unsupported(reason) => format!("{docs}\n\nNot supported: {reason}."),
    }
}
