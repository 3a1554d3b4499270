//! A chunk: the three streams of some events, as they are stored in the file.

use std::io::{self, Read};

use twox_hash::XxHash64;

use super::PURPOSE;
use super::code::Streams;
use crate::process::allocation;

/// Lengths and checksum.
const HEAD: usize = 16 + 8;

/// The longest column that a reader accepts.
const LONGEST: usize = 1 << 30;

/// Writes the streams to `chunk`.
///
/// # Errors
///
/// They are too long, or there is no memory.
pub fn pack(streams: &mut Streams, chunk: &mut Vec<u8>) -> io::Result<()> {
    let too_long = || io::Error::other("one call is larger than a chunk can be");
    let reserve = |bytes: &mut Vec<u8>, more| {
        let room = allocation::reserve(bytes, more, PURPOSE);
        room.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
    };
    let lengths = [
        streams.control.len(),
        streams.shapes.len(),
        streams.bytes.len(),
    ];
    if lengths.iter().any(|&n| n > LONGEST) {
        return Err(too_long());
    }
    reserve(&mut streams.control, streams.shapes.len())?;
    streams.control.extend_from_slice(&streams.shapes);
    let most = lz4_flex::block::get_maximum_output_size(streams.control.len());
    chunk.clear();
    reserve(chunk, HEAD + most + streams.bytes.len())?;
    chunk.resize(HEAD + most, 0);
    // There is room for the longest output, so this cannot fail.
    let packed = lz4_flex::block::compress_into(&streams.control, &mut chunk[HEAD..])
        .map_err(|_| too_long())?;
    chunk.truncate(HEAD + packed);
    chunk.extend_from_slice(&streams.bytes);
    let [control, shapes, bytes] = lengths;
    for (place, length) in chunk
        .chunks_exact_mut(4)
        .zip([packed, control, shapes, bytes])
    {
        place.copy_from_slice(&(length as u32).to_le_bytes());
    }
    let sum = checksum(chunk);
    chunk[16..HEAD].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

fn checksum(chunk: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hash = XxHash64::with_seed(0);
    hash.write(&chunk[..16]);
    hash.write(&chunk[HEAD..]);
    hash.finish()
}

/// Why a chunk cannot be read.
#[derive(Debug)]
pub enum NoChunk {
    /// The file cannot be read.
    Io(io::Error),
    /// The file ends here or within the chunk.
    Cut,
    /// The checksum is wrong.
    Damaged,
}

/// Reads the next chunk.
///
/// # Errors
///
/// There is none.
pub fn unpack(file: &mut impl Read, streams: &mut Streams) -> Result<(), NoChunk> {
    let mut chunk = Vec::new();
    let mut more =
        |chunk: &mut Vec<u8>, length: usize| match file.take(length as u64).read_to_end(chunk) {
            Ok(read) if read == length => Ok(()),
            Ok(_) => Err(NoChunk::Cut),
            Err(e) => Err(NoChunk::Io(e)),
        };
    more(&mut chunk, HEAD)?;
    let number = |at: usize| {
        let bytes = [chunk[at], chunk[at + 1], chunk[at + 2], chunk[at + 3]];
        u32::from_le_bytes(bytes) as usize
    };
    let (packed, control, shapes, bytes) = (number(0), number(4), number(8), number(12));
    // One byte of an LZ4 block unpacks to at most 255 bytes.
    if [packed, control, shapes, bytes]
        .iter()
        .any(|&n| n > LONGEST)
        || control + shapes > 255 * packed
    {
        return Err(NoChunk::Damaged);
    }
    more(&mut chunk, packed + bytes)?;
    if checksum(&chunk).to_le_bytes() != chunk[16..HEAD] {
        return Err(NoChunk::Damaged);
    }
    streams.clear();
    streams.control.resize(control + shapes, 0);
    let (text, rest) = chunk[HEAD..].split_at(packed);
    match lz4_flex::block::decompress_into(text, &mut streams.control) {
        Ok(length) if length == control + shapes => {}
        _ => return Err(NoChunk::Damaged),
    }
    streams
        .shapes
        .extend_from_slice(&streams.control[control..]);
    streams.control.truncate(control);
    streams.bytes.extend_from_slice(rest);
    Ok(())
}
