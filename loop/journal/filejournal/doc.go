// Package filejournal keeps a journal in one file, durably.
//
// [Open] opens the file, or makes it. An append that returned nil is on the disk, and a process killed at any moment
// leaves what was acknowledged, and of each append then under way either all or nothing. Open verifies the whole history
// before anything of it can be used or changed: a file that is cut short, altered or not a journal is refused with an
// [*Error], and left as it is.
//
// # The file
//
// The file is an SQLite database, kept by [github.com/ncruces/go-sqlite3] with a rollback journal (the side file, named
// as the file with "-journal" after it, which is there while the file is open or after a crash), synchronous=EXTRA and a
// checksum on every page. It holds the records, each with SHA-256 over the chain value of the record before it, its number
// and its bytes, and a head, which repeats the number of records and the last chain value, so that losing the last records
// is noticed. The head is written in the transaction that writes the records.
//
// SQLite repairs a file as soon as it reads it, which would change a damaged file before it is known to be one. So SQLite
// gets at the files through a guard (see guard.go): the file is verified as it is, without the side file; if that fails,
// it is verified with the repair that the side file calls for made in memory; only then is anything written. A file that is
// whole without its side file needs no repair, so that a side file of another day cannot take anything back.
//
// # Why SQLite
//
// One bit was flipped at every 11th byte of a file with 40 acknowledged records, or the file cut at every 44th, and the file
// opened and read:
//
//   - bbolt 1.5.0: of 5958 flips, 332 altered the history unnoticed, 6 shortened it unnoticed, and 4 ended the process with
//     a panic or a segmentation fault; of 1490 cuts, 465 ended it with SIGBUS, which a program cannot recover from.
//   - raft-wal 0.4.0: of 745 flips in the segment file, 252 altered the history unnoticed and 27 shortened it unnoticed; of
//     187 cuts, 103 shortened it unnoticed. Its recovery takes a damaged end for a write that was never acknowledged.
//   - SQLite with its write-ahead log and checksums on pages: of 15734 flips in the log that a crash leaves, 14982 shortened
//     the history unnoticed, by design: the log ends at the first frame with a wrong checksum.
//   - SQLite with a rollback journal and checksums on pages: none. Damage cannot pass for an unfinished write there.
//
// This package's tests change every byte of the file, and cut it at every length; run with -exhaustive, they do so with the
// side file of an interrupted commit too.
//
// # Limits
//
//   - An older copy of the whole file, put in the file's place, is a whole journal: nothing in one file can tell. The same
//     goes for a disk that acknowledges a flush and then loses everything that was written since some earlier flush.
//   - The checksums find damage, not forgery: they are not keyed.
//   - If the file is damaged and a side file left by an earlier crash was put back next to it, the side file may bring
//     back an older whole state. A side file next to a file that is whole never does.
//   - The side file belongs to the file: moving one without the other after a crash makes the journal one that is
//     refused, or loses an append that was under way.
//   - The lock is SQLite's, and advisory except on Windows. Network file systems that do not honour locks are not
//     suitable. Making a new journal needs a file system with hard links.
//   - A process killed while it makes a new journal can leave a file named like the journal with ".new-" and digits after
//     it. It is never opened, and can be deleted.
package filejournal
