package filejournal

// OpenPaged is Open with a page size for a new journal: small pages make a short file with many of them.
func OpenPaged(path string, pageSize int) (*Journal, error) { return open(path, pageSize) }
