package sim

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// Record is a run on paper: the schedule, and what is needed to tell that a replay is that run.
type Record struct {
	Check string // what the run broke; empty for a run that was as it should be
	Go    string // the version of Go that it ran on, as "go1.26.8"
	Seed  uint64 // of the runtime's own choices; 0 on the stock runtime, which has none
	Hash  uint64 // Result.Hash
	// Steps are the step hashes, folded: enough to tell at which step a replay parts.
	Steps    []uint16
	Schedule Schedule
}

const (
	recordTitle   = "loopcheck-schedule"
	recordVersion = "1"
	tokenPrefix   = "lc1."
)

// maxRecord bounds what a token may unfold to: it comes from people.
const maxRecord = 16 << 20

// NewRecord returns the record of a run.
func NewRecord(r *Result, goVersion string, seed uint64) Record {
	record := Record{Go: goVersion, Seed: seed, Hash: r.Hash, Steps: r.StepHash, Schedule: r.Schedule}
	if r.Failure != nil {
		record.Check = r.Failure.Check
	}
	return record
}

// String returns the record's text: a version line, a line for each field, a line for each deviation. [ParseRecord] reads it
// back.
func (r Record) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", recordTitle, recordVersion)
	if r.Check != "" {
		fmt.Fprintf(&b, "check %s\n", word(r.Check))
	}
	if r.Go != "" {
		fmt.Fprintf(&b, "go %s\n", word(r.Go))
	}
	fmt.Fprintf(&b, "seed %d\ntrace %016x\n", r.Seed, r.Hash)
	if len(r.Steps) > 0 {
		b.WriteString("steps")
		for _, s := range r.Steps {
			fmt.Fprintf(&b, " %04x", s)
		}
		b.WriteByte('\n')
	}
	for _, d := range r.Schedule.Sorted() {
		b.WriteString(d.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Token returns the record as one line without spaces. [ParseToken] reads it back.
func (r Record) Token() string {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestCompression) // with a checksum: tokens are pasted by people
	if err == nil {
		_, err = io.WriteString(w, r.String())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // the level is valid, and a buffer takes everything
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// ParseToken reads what Token wrote. Errors name what is damaged: the token, or a line of the text in it, as a
// [*SyntaxError].
func ParseToken(token string) (Record, error) {
	encoded, found := strings.CutPrefix(strings.TrimSpace(token), tokenPrefix)
	if !found {
		return Record{}, fmt.Errorf("sim: a schedule token begins with %q", tokenPrefix)
	}
	packed, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Record{}, fmt.Errorf("sim: damaged schedule token: %w", err)
	}
	rest := bytes.NewReader(packed)
	unpacked, err := zlib.NewReader(rest)
	if err != nil {
		return Record{}, fmt.Errorf("sim: damaged schedule token: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, maxRecord+1))
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("sim: damaged schedule token: %w", err)
	case len(text) > maxRecord:
		return Record{}, fmt.Errorf("sim: damaged schedule token: longer than %d bytes", maxRecord)
	case rest.Len() > 0:
		return Record{}, fmt.Errorf("sim: damaged schedule token: %d bytes follow it", rest.Len())
	}
	return ParseRecord(string(text))
}
