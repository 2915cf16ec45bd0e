# The tasks of a developer. "make help" lists them; .ci/run runs them all.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .
COUNT    ?= 1
DRILL    ?=

tool     := $(GO) tool -modfile=tools/go.mod
each     := scripts/for-modules

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: servers
servers: ## Unpack the real servers into .cache/servers
	@scripts/fetch-servers

.PHONY: test
test: servers ## Run all tests of all modules, with every real server
	@BATON_REQUIRE_SERVERS=1 $(each) $(CURDIR)/scripts/gotest -shuffle=on ./...

.PHONY: race
race: servers ## Run all tests under the race detector, with every real server
	@BATON_REQUIRE_SERVERS=1 $(each) $(CURDIR)/scripts/gotest -race -shuffle=on ./...

.PHONY: quick
quick: ## Run the root module's tests without fetching servers
	@$(GO) test -shuffle=on ./...

.PHONY: fmt
fmt: ## Format all code
	@$(tool) gofumpt -w .

.PHONY: lint
lint: ## Check style: vet, staticcheck, gofumpt, tidy, and golangci-lint if it is there
	@scripts/lint

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10s)
	@scripts/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## Run the benchmarks that match BENCH, COUNT times
	@$(each) $(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) ./...

.PHONY: drill
drill: servers ## Rehearse maintenance; DRILL has the drill's arguments
	@$(GO) run ./cmd/baton drill $(DRILL)

.PHONY: clean
clean: ## Remove what was built and fetched
	@rm -rf .cache bin drill.json drill-report.html
	@find . -name '*.test' -type f -not -path './.git/*' -delete
