// Command demo shows the reference loop being reconfigured under load: inputs, changes, modes, external tools and
// interrupts from several goroutines at once, on a durable journal whose appends now and then fail. It checks, as it goes,
// that every turn kept the configuration that it started with, and at the end that a restore finds what was in force.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/loopcheck/loopcheck/loop"
	"github.com/loopcheck/loopcheck/loop/journal/filejournal"
	"github.com/loopcheck/loopcheck/loop/model"
	"github.com/loopcheck/loopcheck/loop/native"
)

func main() {
	duration := flag.Duration("time", 3*time.Second, "how long to keep the loop busy")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "what the load is drawn from")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *duration, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, duration time.Duration, seed uint64) (err error) {
	dir, err := os.MkdirTemp("", "loopcheck-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, err := filejournal.Open(filepath.Join(dir, "loop.journal"))
	if err != nil {
		return err
	}
	defer file.Close()

	definition, err := define()
	if err != nil {
		return err
	}
	seen := &watch{turns: make(map[string]configuration)}
	journal := &flakyJournal{Journal: file}
	config := native.Config{Definition: definition, Journal: journal, Client: &client{seen: seen, seed: seed}}
	l, err := native.New(ctx, config)
	if err != nil {
		return err
	}
	fmt.Printf("a loop with 3 modes, 3 clients and a journal that reports every 9th append as failed (every 2nd of these was written), for %v (seed %d)\n\n", duration, seed)
	busy, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	load(busy, l, seed, seen)
	if err := l.Shutdown(context.Background()); err != nil {
		return err
	}
	seen.report(os.Stdout)

	restored, err := native.Restore(context.Background(), config)
	if err != nil {
		return err
	}
	defer restored.Shutdown(context.Background())
	before, after := describe(l), describe(restored)
	fmt.Printf("\nin force at the exit:    %s\nin force after restore:  %s\n", before, after)
	switch {
	case before != after:
		return fmt.Errorf("the restore lost a change")
	case len(seen.mixed) > 0:
		return fmt.Errorf("turns whose configuration changed while they ran: %v", seen.mixed)
	}
	fmt.Println("every turn kept the configuration that it started with")
	return nil
}

func describe(l *native.Loop) string {
	m := l.Model()
	return fmt.Sprintf("mode %q, model %s, effort %q", l.Mode(), m.Name, m.Sampling.Effort)
}

func newModel(name string) model.Model {
	return model.Model{
		Provider: "acme", APIFormat: "chat", Name: name, Efforts: []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh},
	}
}

func define() (loop.Definition, error) {
	return loop.Define(
		loop.WithName("demo"),
		loop.WithInstructions("help"),
		loop.WithModel(newModel("m1")),
		loop.WithEffort(model.EffortLow),
		loop.WithTools(echo("read"), echo("write")),
		loop.WithMode("plan", loop.WithInstructions("only plan"), loop.WithEffort(model.EffortHigh), loop.WithTools(echo("read"))),
		loop.WithMode("review", loop.WithModel(newModel("m2"))),
	)
}
