# The go command is all that is needed. Lint tools are pinned in tools/go.mod, apart from what the module itself requires.
GO ?= go

.PHONY: test lint bench fuzz

test: lint
	$(GO) test -race ./...

lint:
	@unformatted="$$(gofmt -l .)"; test -z "$$unformatted" || { echo "not gofmt-clean: $$unformatted"; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

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
