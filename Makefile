# The go command is all that is needed. Lint tools are pinned in tools/go.mod, apart from what the module itself requires.
GO ?= go

.PHONY: test lint bench fuzz faults corpus

# What makes many runs does so without the race detector, and a few of them with it.
test: lint
	$(GO) test -race ./...
	$(GO) test -count=1 -run 'Fault|Conforming|Variant' ./conformance/...

lint:
	@unformatted="$$(gofmt -l .)"; test -z "$$unformatted" || { echo "not gofmt-clean: $$unformatted"; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

# Every fault of conformance/faulty from each of SEEDS seeds: it must be found within 5,000 schedules by 95 in 100 of them.
SEEDS ?= 100
faults:
	$(GO) test -count=1 -timeout 3h -run 'TestFaultsAreFound' -v ./conformance -faults.seeds=$(SEEDS)

# The corpus of faults anew, after a change of the scheduler, the workloads or the oracle.
corpus:
	$(GO) test -count=1 -timeout 1h -run 'TestFaultCorpus' ./conformance -faults.update

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Each fuzz target for some time; what is found lands in the package's testdata/fuzz.
FUZZTIME ?= 30s
fuzz:
	@set -e; for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done
