package loop_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/loopcheck/loopcheck/"

// What implements the contract drags in whatever these packages import, in production.
func TestTheContractImportsNoTestLibraryAndNothingOfTheKit(t *testing.T) {
	contract := []string{"loop", "loop/command", "loop/event", "loop/journal", "loop/model", "loop/tool"}
	for _, c := range []struct {
		packages []string
		allowed  []string // of other modules, as prefixes
	}{
		{contract, []string{"github.com/google/uuid"}},
		{append(contract, "loop/native", "loop/foreign"), []string{"github.com/google/uuid"}},
		{append(contract, "loop/journal/filejournal"), []string{
			"github.com/google/uuid", "github.com/ncruces/", "golang.org/x/sys/", "vendor/golang.org/x/",
		}},
	} {
		t.Run(c.packages[len(c.packages)-1], func(t *testing.T) {
			arguments := []string{"list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}"}
			own := map[string]bool{module + "loop/internal/surroundings": true}
			for _, p := range c.packages {
				arguments, own[module+p] = append(arguments, module+p), true
			}
			list := exec.Command("go", arguments...)
			var stderr strings.Builder
			list.Stderr = &stderr
			out, err := list.Output()
			require.NoError(t, err, stderr.String())
			for line := range strings.Lines(string(out)) {
				path, standard, ok := strings.Cut(strings.TrimSpace(line), " ")
				require.True(t, ok, line)
				allowed := own[path] || standard == "true" ||
					slices.ContainsFunc(c.allowed, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
				assert.True(t, allowed, "%s is imported", path)
				assert.False(t, path == "testing" || strings.HasPrefix(path, "testing/"), "%s is imported", path)
				delete(own, path)
			}
			assert.Empty(t, own, "some packages are no longer there")
		})
	}
}
