package loop_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What implements the contract drags in whatever these packages import, in production.
func TestTheContractImportsNoTestLibraryAndNothingOfTheKit(t *testing.T) {
	const module = "github.com/loopcheck/loopcheck/"
	allowed := map[string]bool{
		module + "loop": true, module + "loop/command": true, module + "loop/event": true, module + "loop/journal": true,
		module + "loop/model": true, module + "loop/tool": true, module + "loop/internal/surroundings": true,
		"github.com/google/uuid": true,
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}",
		module+"loop", module+"loop/command", module+"loop/event", module+"loop/journal", module+"loop/model", module+"loop/tool")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, stderr.String())

	found := 0
	for line := range strings.Lines(string(out)) {
		path, standard, ok := strings.Cut(strings.TrimSpace(line), " ")
		require.True(t, ok, line)
		if allowed[path] {
			found++
			continue
		}
		assert.Equal(t, "true", standard, "%s is imported", path)
		assert.False(t, path == "testing" || strings.HasPrefix(path, "testing/"), "%s is imported", path)
	}
	assert.Equal(t, len(allowed), found, "some packages are no longer there")
}
