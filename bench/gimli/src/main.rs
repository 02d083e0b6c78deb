// Copyright 2026 The Clew Authors. All rights reserved.
// Use of this source code is governed by a BSD-3-Clause
// licence that can be found in the LICENSE file.

//! gimli's part of the comparison with Clew: `gimli-bench FILE SECTIONS ADDRESSES`.
//!
//! SECTIONS is `ADDRESS:OFFSET:SIZE` of .eh_frame and of .eh_frame_hdr and the
//! address of .text, joined by commas. ADDRESSES is a file of little-endian 64-bit
//! addresses. Each line on standard input asks for one pass, so that the
//! caller can interleave it with others:
//!
//!     rows     every row of every FDE: prints "NANOSECONDS FDES ROWS CHECKSUM"
//!     lookup   the row of every address: prints "NANOSECONDS HITS HITS CHECKSUM"
//!     encode   every FDE written to a section again: prints "NANOSECONDS FDES 0 BYTES"
//!
//! The checksum covers the start and the CFA offset of each row, so that the work
//! can't be optimised away and can be compared.

use gimli::write::{Address, EhFrame as WrittenEhFrame, EndianVec, FrameTable, Writer};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, CommonInformationEntry, EhFrame, EhFrameHdr,
    EhFrameOffset, EndianSlice, LittleEndian, ParsedEhFrameHdr, UnwindContext, UnwindSection,
    UnwindTableRow,
};
use std::io::{BufRead, Write};
use std::time::Instant;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Outcome = gimli::Result<(u64, u64, u64)>;

fn checksum(row: &UnwindTableRow<Slice>) -> u64 {
    match row.cfa() {
        CfaRule::RegisterAndOffset { offset, .. } => *offset as u64,
        CfaRule::Expression(_) => 0,
    }
}

fn rows<'a>(
    section: &EhFrame<Slice<'a>>,
    bases: &BaseAddresses,
    context: &mut UnwindContext<Slice<'a>>,
) -> Outcome {
    let (mut fdes, mut rows, mut sum) = (0u64, 0u64, 0u64);
    // FDEs that share a CIE are adjacent, as linkers place them.
    let mut last: Option<(EhFrameOffset, CommonInformationEntry<Slice<'a>>)> = None;
    let mut entries = section.entries(bases);
    while let Some(entry) = entries.next()? {
        let partial = match entry {
            CieOrFde::Cie(_) => continue,
            CieOrFde::Fde(partial) => partial,
        };
        let fde = partial.parse(|section, bases, offset| match &last {
            Some((at, cie)) if *at == offset => Ok(cie.clone()),
            _ => {
                let cie = section.cie_from_offset(bases, offset)?;
                last = Some((offset, cie.clone()));
                Ok(cie)
            }
        })?;
        fdes += 1;
        let mut table = fde.rows(section, bases, context)?;
        while let Some(row) = table.next_row()? {
            // gimli also yields empty rows; Clew omits them.
            if row.start_address() == row.end_address() {
                continue;
            }
            rows += 1;
            sum = sum
                .wrapping_add(row.start_address())
                .wrapping_add(checksum(row));
        }
    }
    Ok((fdes, rows, sum))
}

fn lookup<'a>(
    header: &ParsedEhFrameHdr<Slice<'a>>,
    section: &EhFrame<Slice<'a>>,
    bases: &BaseAddresses,
    context: &mut UnwindContext<Slice<'a>>,
    addresses: &[u64],
) -> Outcome {
    let table = header.table().expect("no table in .eh_frame_hdr");
    let (mut hits, mut sum) = (0u64, 0u64);
    for &address in addresses {
        let row = table.unwind_info_for_address(
            section,
            bases,
            context,
            address,
            EhFrame::cie_from_offset,
        )?;
        hits += 1;
        sum = sum.wrapping_add(checksum(row));
    }
    Ok((hits, hits, sum))
}

/// Decodes every FDE into gimli's model for writing, and writes the section.
fn encode(section: &EhFrame<Slice>) -> Outcome {
    let table = FrameTable::from(section, &|address| Some(Address::Constant(address)))
        .expect("a table that can be written");
    let mut out = WrittenEhFrame(EndianVec::new(LittleEndian));
    table.write_eh_frame(&mut out).expect("a section");
    Ok((table.fde_count() as u64, 0, out.len() as u64))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let file = std::fs::read(&arguments[1]).expect("the file");
    let sections: Vec<Vec<u64>> = arguments[2]
        .split(',')
        .map(|s| s.split(':').map(|n| n.parse().expect("a number")).collect())
        .collect();
    let slice = |s: &[u64]| &file[s[1] as usize..][..s[2] as usize];
    let addresses: Vec<u64> = std::fs::read(&arguments[3])
        .expect("the addresses")
        .chunks_exact(8)
        .map(|b| u64::from_le_bytes(b.try_into().unwrap()))
        .collect();

    let bases = BaseAddresses::default()
        .set_eh_frame(sections[0][0])
        .set_eh_frame_hdr(sections[1][0])
        .set_text(sections[2][0]);
    let section = EhFrame::new(slice(&sections[0]), LittleEndian);
    let header = EhFrameHdr::new(slice(&sections[1]), LittleEndian)
        .parse(&bases, 8)
        .expect(".eh_frame_hdr");
    let mut context = UnwindContext::new();

    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let start = Instant::now();
        let outcome = match line.expect("a line").as_str() {
            "rows" => rows(&section, &bases, &mut context),
            "lookup" => lookup(&header, &section, &bases, &mut context, &addresses),
            "encode" => encode(&section),
            other => panic!("unknown request {other:?}"),
        };
        let took = start.elapsed().as_nanos();
        let (entries, rows, sum) = outcome.expect("gimli");
        writeln!(out, "{took} {entries} {rows} {sum}").expect("standard output");
        out.flush().expect("standard output");
    }
}
