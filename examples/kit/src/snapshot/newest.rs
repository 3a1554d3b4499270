//! Makes datasets in the newest format of HDF5 2.0, which AMUSE asks for, readable for hdf5-pure 0.47.
//!
//! That format has version 5 of the data layout message, which tells where the numbers of a dataset lie. hdf5-pure
//! reads version 4, whose bytes are the same. The versions differ only in the width of the sizes in an index of
//! compressed chunks, and hdf5-pure takes this width from the index. So this module changes the version number and the
//! header's checksum. (HDF5 file format specification 4.0, "Data Object Header Messages"; `H5O_LAYOUT_VERSION_5` of
//! HDF5 2.0.)

/// What an object header begins with.
const HEADER: &[u8] = b"OHDR\x02";
/// Type of the data layout message.
const LAYOUT: u8 = 8;

/// `bytes` with layout messages of version 4 in place of version 5.
pub(super) fn as_version_4(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some(found) = find(&bytes[at..], HEADER) {
        at += found;
        if let Some(messages) = messages(&bytes[at..]) {
            change(&mut bytes[at..], messages);
        }
        at += HEADER.len();
    }
    bytes
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    let first = bytes.iter().enumerate().filter(|(_, b)| **b == what[0]);
    first
        .map(|(at, _)| at)
        .find(|at| bytes[*at..].starts_with(what))
}

/// The messages of a header: where they begin and end, and the bytes before the content of each.
struct Messages {
    begin: usize,
    end: usize,
    prefix: usize,
}

/// The messages of the header in the first of `bytes`; `None` if it is none, by its checksum.
fn messages(bytes: &[u8]) -> Option<Messages> {
    let flags = *bytes.get(5)?;
    let times = if flags & 0x20 == 0 { 0 } else { 16 };
    let limits = if flags & 0x10 == 0 { 0 } else { 4 };
    let (width, at) = (1 << (flags & 3), 6 + times + limits);
    let mut size = [0; 8];
    size[..width].copy_from_slice(bytes.get(at..at + width)?);
    let begin = at + width;
    let end = begin.checked_add(usize::try_from(u64::from_le_bytes(size)).ok()?)?;
    let found = bytes.get(end..end.checked_add(4)?)?;
    let prefix = if flags & 0x04 == 0 { 4 } else { 6 };
    let is_header = lookup3(&bytes[..end]).to_le_bytes() == *found;
    is_header.then_some(Messages { begin, end, prefix })
}

/// Changes the layout message of a header, if it has one of version 5.
fn change(bytes: &mut [u8], Messages { begin, end, prefix }: Messages) {
    let mut at = begin;
    while at + prefix + 2 <= end {
        let size = usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]));
        let content = at + prefix;
        if bytes[at] == LAYOUT && bytes[content] == 5 {
            bytes[content] = 4;
            let sum = lookup3(&bytes[..end]).to_le_bytes();
            bytes[end..end + 4].copy_from_slice(&sum);
            return;
        }
        at = content + size;
    }
}

/// The checksum of HDF5's metadata: Jenkins' lookup3 (2006), `hashlittle` with the initial value 0.
fn lookup3(bytes: &[u8]) -> u32 {
    let length = bytes.len() as u32;
    let mut s = [0xdead_beef_u32.wrapping_add(length); 3];
    let mut rest = bytes;
    while !rest.is_empty() {
        let (block, after) = rest.split_at(rest.len().min(12));
        let mut padded = [0; 12];
        padded[..block.len()].copy_from_slice(block);
        for (word, four) in s.iter_mut().zip(padded.as_chunks().0) {
            *word = word.wrapping_add(u32::from_le_bytes(*four));
        }
        rest = after;
        if rest.is_empty() {
            // Pairs of words and rotations of the last round.
            for (to, from, by) in [
                (2, 1, 14),
                (0, 2, 11),
                (1, 0, 25),
                (2, 1, 16),
                (0, 2, 4),
                (1, 0, 14),
                (2, 1, 24),
            ] {
                s[to] = (s[to] ^ s[from]).wrapping_sub(s[from].rotate_left(by));
            }
        } else {
            for (round, by) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
                let (a, b, c) = (round % 3, (round + 1) % 3, (round + 2) % 3);
                s[a] = s[a].wrapping_sub(s[c]) ^ s[c].rotate_left(by);
                s[c] = s[c].wrapping_add(s[b]);
            }
        }
    }
    s[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the self-test in Jenkins' lookup3.c.
    #[test]
    fn the_checksum_is_lookup3() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
