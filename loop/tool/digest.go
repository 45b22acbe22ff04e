package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// DigestLength is the length of a schema digest, in bytes of text.
const DigestLength = 2 * sha256.Size

// ErrSchema is what every error of [SchemaDigest] wraps.
var ErrSchema = errors.New("tool: the schema is neither blank nor valid JSON")

// SchemaDigest returns the lowercase hexadecimal SHA-256 of the compacted schema, of nothing for a blank one (EXT-7).
// White space outside of strings does not matter, everything else does: the order of members too.
func SchemaDigest(schema []byte) (string, error) {
	var compact bytes.Buffer
	// JSON's own white space, and no more: U+00A0 alone is not a blank schema but a broken one.
	if trimmed := bytes.Trim(schema, " \t\r\n"); len(trimmed) > 0 {
		if err := json.Compact(&compact, trimmed); err != nil {
			return "", fmt.Errorf("%w: %w", ErrSchema, err)
		}
	}
	sum := sha256.Sum256(compact.Bytes())
	return hex.EncodeToString(sum[:]), nil
}

// ValidDigest reports whether s has the form of a schema digest.
func ValidDigest(s string) bool {
	if len(s) != DigestLength {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
