# Targets are plain commands. Whoever has no make copies them.

CAPTURE  ?= examples/cached_ops.json
FUZZTIME ?= 10s
SHOTS    ?= build/shots

.DEFAULT_GOAL := help
.PHONY: help run test short test32 faults meets race planted api lint nightly ci fuzz shots hammer bounds bench bench-short cover dist wheel check

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: ## report on a made capture (CAPTURE=file for another one)
	go run ./tool/cmd/cbl1 $(CAPTURE)

test: ## all tests
	go test -timeout 30m ./...

short: ## all tests with fewer random tries
	go test -timeout 30m -short ./...

test32: ## the same with an int of 32 bits
	.ci/32bit

faults: ## operations on many devices, failed on purpose at each of their steps
	go test -timeout 30m -tags cbl1faults ./device

meets: ## all that is found by hash has the same one: only comparison tells it apart
	go test -timeout 30m -tags cbl1meets ./device/... ./fuzz

race: ## all tests under the race detector, in random order (needs a C compiler)
	.ci/race

planted: ## known bugs, one at a time: the quick tests have to find each (some minutes)
	.ci/planted

api: ## write down the exported names (api/*.txt) and the types of the Python package, after a change of them
	go test -run TestAPI -update .
	go test -run TestStub ./tool/internal/cbl1dist -update

lint: ## gofmt, vet, go.mod, golangci-lint with staticcheck (fetches it)
	.ci/lint

fuzz: ## every fuzz target for FUZZTIME (10s)
	FUZZTIME=$(FUZZTIME) .ci/fuzz

shots: ## pictures of pages: the tour's into tool/docs/tour; light, dark, on a phone, into SHOTS (needs Chromium, and says so)
	@mkdir -p $(SHOTS)
	go test ./tool/internal/pictures/page -run '^TestTour$$' -count 1 -v -shots $(abspath tool/docs/tour)
	go test ./tool/internal/pictures/page -run '^(TestPages|TestClicks)$$' -count 1 -v -shots $(abspath $(SHOTS))

hammer: ## 10,000,000 operations beside models, minutes; every cut of every fixture, 10,000 changes, 10,000 made inputs: an hour of two cores; then a server's clients, minutes; 100 MB of near misses
	go test ./fuzz -run '^TestOperations$$' -count 1 -timeout 3h -v -operations 10000000
	go test ./tool/cmd/cbl1 -run '^TestHammer' -count 1 -timeout 3h -v -hammer
	go test ./tool/internal/live/serve -run '^TestHammer' -count 1 -timeout 1h -v -hammer
	go test ./tool/internal/clash -run '^TestHammer' -count 1 -v -hammer
	go test ./tool/internal/guard/attack -run '^TestHammer' -count 1 -v -hammer

bounds: ## what a call costs in statements and bytes, in two sizes of the histories that are worst for it
	go test -run '^TestBounds$$' -count 1 -v ./internal/guard/cbl1bounds

bench: ## ours beside simple structures and an earlier commit: one table, some minutes; a broken promise fails
	go run ./tool/internal/guard/cbl1bench

bench-short: ## the same, smaller, which promises nothing
	go run ./tool/internal/guard/cbl1bench -div 4

cover: ## test coverage of the core packages, at least 95 % each
	.ci/cover

wheel: dist ## Python wheels into dist/, with the rest of a release

dist: ## a release into dist/: binaries, wheels, Debian packages, a unit, a formula, an SBOM, checksums
	.ci/dist

check: lint test faults ## the quick ones: before every push

ci: ## the checks before a change goes in: a quarter of an hour of two cores
	.ci/run

nightly: ## everything, some hours; ends with a table of what ran
	.ci/nightly
