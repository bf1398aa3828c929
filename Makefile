# What there is to do; `make` builds. The rules hold no logic: scripts/ does.

GO ?= go
# Flags for go test in `make check` and `make test`, for example -v.
TESTFLAGS ?=

.PHONY: build
build: ## bin/cellar
	scripts/build.sh

.PHONY: check
check: format vet static race generated cases nosql ## what must hold before a commit: format, vet, staticcheck, quick tests with -race, generated files, a test for every case

.PHONY: format
format:
	scripts/format.sh

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: static
static:
	$(GO) tool staticcheck ./...

.PHONY: race
race:
	$(GO) test $(TESTFLAGS) -race -tags invariants -short -timeout 15m ./...

.PHONY: generated
generated:
	scripts/generated.sh

.PHONY: cases
cases:
	scripts/cases.sh

.PHONY: nosql
nosql:
	scripts/nosql.sh

.PHONY: release
release: ## dist/: archives of static binaries, with their checksums
	scripts/release.sh

.PHONY: test
test: venv ## all tests, with kills, hostile clients and the Python client
	$(GO) test $(TESTFLAGS) -timeout 20m ./...

.PHONY: soak
soak: venv ## all tests, the long versions: 20 kills in place of 3, more seeds
	CELLAR_SOAK=1 $(GO) test $(TESTFLAGS) -count=1 -timeout 4h ./...

.PHONY: bench
bench: build ## the published load, against a server of its own
	bin/cellar bench thrift

.PHONY: venv
venv:
	scripts/venv.sh

.PHONY: clean
clean: ## removes what was built here; the Go caches stay
	rm -rf bin dist .venv

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | expand -t 10

.PHONY: oracle
oracle: ## asks a real HBase anew what the tests compare with; needs Java 17 and Maven
	test/oracle/record.sh
