package corpus

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/loopcheck/loopcheck/workload"
)

// Extension is that of the files of a corpus.
const Extension = ".schedule"

// Entry is a file of a corpus, and where it is.
type Entry struct {
	Path string
	File File
}

// Name returns the name under which a file is saved: the requirement, or "reach", and six digits of a hash of the workload and
// the schedule.
func (f File) Name() string { return f.name(6) }

func (f File) name(digits int) string {
	requirement := f.Requirement
	if requirement == "" {
		requirement = "reach"
	}
	requirement = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, requirement)
	if len(requirement) > 64 {
		requirement = requirement[:64]
	}
	sum := sha256.Sum256([]byte(f.identity()))
	return requirement + "-" + hex.EncodeToString(sum[:])[:digits] + Extension
}

// identity is what makes a failure another one: not who found it, on which Go, or what was seen on the way.
func (f File) identity() string {
	var b strings.Builder
	b.WriteString(quote(f.Requirement) + "\n" + f.Workload.String())
	for _, d := range f.Record.Schedule.Sorted() {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

// Save writes a file into a directory, which is made if it is not there, under its Name, and returns its path. A failure that is
// there already, by requirement, workload and schedule, is left as it is, and no error. A name that another content has is
// passed over for a longer one: nothing is ever overwritten. A file appears whole or not at all, and survives a crash of the
// machine once Save has returned. Any number of processes may save into one directory.
func Save(dir string, f File) (path string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("corpus: save: %w", err)
	}
	temporary, err := write(dir, f.String())
	if err != nil {
		return "", fmt.Errorf("corpus: save: %w", err)
	}
	defer os.Remove(temporary)
	for digits := len("3f2a9c"); digits <= 2*sha256.Size; digits *= 2 {
		path = filepath.Join(dir, f.name(digits))
		switch err := publish(temporary, path); {
		case err == nil:
			return path, syncDir(dir)
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("corpus: save: %w", err)
		}
		if same, err := f.isAt(path); err != nil || same {
			return path, err
		}
	}
	return "", fmt.Errorf("corpus: save: %s holds another content", path)
}

// isAt reports whether the file at that path is of the same failure. One that cannot be read as a file of a corpus is not.
func (f File) isAt(path string) (bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("corpus: save: %w", err)
	}
	var kinds []workload.Kind // the user's may be among these: if it is the same failure, it has no others
	for _, o := range f.Workload.Operations() {
		kinds = append(kinds, o.Kind)
	}
	there, err := Parse(path, data, kinds...)
	return err == nil && there.identity() == f.identity(), nil
}

// write makes a file of a name that nobody loads.
func write(dir, text string) (path string, err error) {
	path = filepath.Join(dir, ".loopcheck-"+rand.Text()+".tmp")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// publish gives a file its name, unless that is taken: [fs.ErrExist]. A rename would replace what another process has put there
// since we looked; a second link to the file cannot. Where there are no links, a rename has to do.
func publish(temporary, path string) error {
	err := os.Link(temporary, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, missing := os.Lstat(path); missing == nil {
		return fs.ErrExist
	}
	return os.Rename(temporary, path)
}

// syncDir makes a new name in a directory survive a crash. Not every system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("corpus: save: %w", err)
	}
	_ = d.Sync()
	return d.Close()
}

// Load reads the files of a directory that have the Extension, sorted by name. Other files, and directories, are passed over; a
// directory that is not there is empty. kinds are those that the user has added. If files are damaged, the error names each and
// its line, as [*Error]s, and the others are returned.
func Load(dir string, kinds ...workload.Kind) ([]Entry, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("corpus: load: %w", err)
	}
	var entries []Entry
	var failed []error
	for _, item := range list {
		if item.IsDir() || filepath.Ext(item.Name()) != Extension {
			continue
		}
		path := filepath.Join(dir, item.Name())
		file, err := LoadFile(path, kinds...)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		entries = append(entries, Entry{path, file})
	}
	return entries, errors.Join(failed...)
}

// LoadFile reads one file. An error is an [*Error], or that of reading it.
func LoadFile(path string, kinds ...workload.Kind) (File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("corpus: load: %w", err)
	}
	return Parse(path, data, kinds...)
}
