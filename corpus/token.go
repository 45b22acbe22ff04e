package corpus

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/loopcheck/loopcheck/workload"
)

// tokenPrefix tells a whole file from a bare schedule, whose token begins with "lc1.".
const tokenPrefix = "lcf1."

// maxToken bounds what a token may unfold to: it comes from people.
const maxToken = 16 << 20

// Token returns the file, without its log, as one line without spaces, which holds a checksum. [ParseToken] reads it back.
func (f File) Token() string {
	f.Log = nil
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, f.String())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // the level is valid, and a buffer takes everything
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// IsToken reports whether a text is meant to be what Token wrote, rather than the name of a file, say.
func IsToken(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), tokenPrefix) }

// ParseToken reads what Token wrote; kinds are those that the user has added. An error is an [*Error]: of the token, or of a line
// of the text in it.
func ParseToken(token string, kinds ...workload.Kind) (File, error) {
	text, err := unfold(token)
	if err != nil {
		return File{}, &Error{File: "token", Line: 1, Text: shorten(strings.TrimSpace(token)), Reason: err.Error(), Cause: err}
	}
	return Parse("token", text, kinds...)
}

func unfold(token string) ([]byte, error) {
	encoded, found := strings.CutPrefix(strings.TrimSpace(token), tokenPrefix)
	if !found {
		return nil, fmt.Errorf("a token of a file begins with %q", tokenPrefix)
	}
	packed, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("damaged token: %w", err)
	}
	rest := bytes.NewReader(packed)
	unpacked, err := zlib.NewReader(rest)
	if err != nil {
		return nil, fmt.Errorf("damaged token: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, maxToken+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("damaged token: %w", err)
	case len(text) > maxToken:
		return nil, fmt.Errorf("damaged token: longer than %d bytes", maxToken)
	case rest.Len() > 0:
		return nil, fmt.Errorf("damaged token: %d bytes follow it", rest.Len())
	}
	return text, nil
}
