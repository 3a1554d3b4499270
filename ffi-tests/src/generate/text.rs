//! Line breaking for generated comments and argument lists.

use kirin::error::Code;

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

/// The return codes with their meanings, a line beginning with `mark` for each line of text.
pub fn codes(mark: &str, width: usize) -> String {
    let mut out = String::new();
    for code in Code::ALL {
        let number = format!("{:>4}  ", code as i32);
        let lines = fill(
            code.meaning().split_whitespace(),
            width - mark.len() - number.len(),
        );
        for (k, line) in lines.iter().enumerate() {
            let head = if k == 0 { &*number } else { "      " };
            out += &format!("{mark}{head}{line}\n");
        }
    }
    out
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
