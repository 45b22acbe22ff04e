package filejournal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// rollbackMagic is what a rollback journal that is to be played back begins with. SQLite overwrites it with zeros to commit.
const rollbackMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// hotSide reports whether the side file could hold the repair of a transaction that did not end. SQLite would delete
// whatever has the side file's name, which may be somebody's; so what cannot be a rollback journal is refused.
func hotSide(path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, &Error{Kind: ErrSideFile, Detail: fmt.Sprintf("%s is not a regular file", path)}
	}
	start, err := readStart(path, len(rollbackMagic))
	switch {
	case err != nil:
		return false, err
	case len(start) == 0 || start[0] == 0:
		return false, nil
	case string(start) == rollbackMagic:
		return true, nil
	}
	return false, &Error{Kind: ErrSideFile, Detail: fmt.Sprintf("%s holds something else, or is damaged", path)}
}

// readStart returns the first n bytes of a file, or all of a shorter one.
func readStart(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	start, err := io.ReadAll(io.LimitReader(f, int64(n)))
	return start, errors.Join(err, f.Close())
}
