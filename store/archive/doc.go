// Package archive writes and reads backups: the files of a store, copied as of
// one moment, in a folder or a tar stream, with a manifest that holds the
// SHA-256 of each. It knows nothing of what is in the files.
//
// Contract: a backup is there whole or not at all. A folder has another name
// until its last byte is on stable storage; a stream ends with its manifest. What
// is read back has every sum checked before anybody can take it for a store; a
// file that is missing, changed, cut or not in the manifest is an error that
// names it. What is read is hostile: names lead nowhere else, and numbers are
// checked before they are believed.
//
// docs/internals/format/backup.md has the format.
package archive
