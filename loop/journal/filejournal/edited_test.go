package filejournal_test

import (
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/stretchr/testify/require"
)

// Another program edits the database: every page has the right checksum.
func TestEdited(t *testing.T) {
	tests := []struct{ name, sql string }{
		{"last record removed", `DELETE FROM record WHERE seq = 12`},
		{"last record removed and counted", `DELETE FROM record WHERE seq = 12; UPDATE head SET count = 11`},
		{"first record removed", `DELETE FROM record WHERE seq = 1`},
		{"all records removed", `DELETE FROM record`},
		{"record renumbered", `UPDATE record SET seq = 13 WHERE seq = 12`},
		{"record altered", `UPDATE record SET payload = CAST('{"type":"note","n":0}' AS BLOB) WHERE seq = 2`},
		{"records exchanged", `UPDATE record SET payload = (SELECT payload FROM record WHERE seq = 2) WHERE seq = 1`},
		{"record repeated", `INSERT INTO record SELECT 13, payload, chain FROM record WHERE seq = 12; UPDATE head SET count = 13`},
		{"head altered", `UPDATE head SET chain = zeroblob(32)`},
		{"head cut short", `UPDATE head SET chain = x'00'`},
		{"head removed", `DELETE FROM head`},
		{"other beginning", `UPDATE head SET genesis = randomblob(32)`},
		{"table added", `CREATE TABLE more(x)`},
		{"trigger added", `CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END`},
		{"pages freed", `CREATE TABLE more(x); DROP TABLE more`},
		{"write-ahead log turned on", `PRAGMA journal_mode = WAL`},
		{"other format", `PRAGMA user_version = 2`},
		{"other application", `PRAGMA application_id = 7`},
	}
	content, want := sampleContent(t, 12)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, t.TempDir(), content)
			c, err := sqlite3.Open(path)
			require.NoError(t, err)
			require.NoError(t, c.Exec(test.sql))
			require.NoError(t, c.Close())
			require.Equal(t, []string{"journal"}, names(t, filepath.Dir(path)))
			require.True(t, verdict(t, path, test.name, want), "accepted")
		})
	}
}
