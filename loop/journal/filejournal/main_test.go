package filejournal_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
)

var exhaustive = flag.Bool("exhaustive", false, "damage every byte in every way that the tests know")

// children are what the test binary does instead of testing when startChild starts it.
var children = map[string]func(path string) error{
	"append":  appendForever,
	"append8": appendForever8,
	"hold":    hold,
}

const (
	childEnv = "FILEJOURNAL_TEST_CHILD"
	pathEnv  = "FILEJOURNAL_TEST_PATH"
)

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childEnv)]; child != nil {
		if err := child(os.Getenv(pathEnv)); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child is a running process of this binary.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t testing.TB, what, path string) *child {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+what, pathEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &child{cmd: cmd, lines: bufio.NewScanner(out)}
}

// next returns the next line, or false when the process has ended.
func (c *child) next(t testing.TB) (string, bool) {
	t.Helper()
	ok := c.lines.Scan()
	line := c.lines.Text()
	require.False(t, strings.HasPrefix(line, "failed:"), line)
	return line, ok
}

// kill ends the process, and returns what it had said and nobody had read yet.
func (c *child) kill(t testing.TB) []string {
	t.Helper()
	_ = c.cmd.Process.Kill()
	var rest []string
	for line, ok := c.next(t); ok; line, ok = c.next(t) {
		rest = append(rest, line)
	}
	_ = c.cmd.Wait()
	return rest
}

func hold(path string) error {
	j, err := filejournal.Open(path)
	if err != nil {
		return err
	}
	if err := j.Append(context.Background(), note(0, "held")); err != nil {
		return err
	}
	fmt.Println("open")
	select {}
}

// appendForever appends numbered events after those there are, and says the number of each when it is acknowledged.
func appendForever(path string) error {
	j, err := filejournal.Open(path)
	if err != nil {
		return err
	}
	there, err := collect(j.Events(context.Background()))
	if err != nil {
		return err
	}
	for n := len(there); ; n++ {
		if err := j.Append(context.Background(), numbered(0, n)); err != nil {
			return err
		}
		fmt.Println(0, n)
	}
}

// appendForever8 does so in 8 goroutines. Each has numbers of its own, from 0.
func appendForever8(path string) error {
	j, err := filejournal.Open(path)
	if err != nil {
		return err
	}
	failed := make(chan error)
	var output sync.Mutex
	for w := range 8 {
		go func() {
			for n := 0; ; n++ {
				if err := j.Append(context.Background(), numbered(w, n)); err != nil {
					failed <- err
					return
				}
				output.Lock()
				fmt.Println(w, n)
				output.Unlock()
			}
		}()
	}
	return <-failed
}
