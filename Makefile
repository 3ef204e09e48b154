# The only entrance: `make run` and `make test` set up all they need. Python 3.11+, make and the venv module must be there.
# PORT, PERFDB_HOME and the other variables of docs/settings.md go before or after the target: make run PORT=8001

unexport PYTHONDONTWRITEBYTECODE

# The first Python that is new enough, can make virtual environments and was built with profiles, as those of distributions
# are: one that was not takes a quarter longer for everything. Else the first without the last; else one that says what it lacks.
PYTHONS = python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11
FITS = import ensurepip, sys, sysconfig, venv; fits = sys.version_info >= (3, 11)
IS_QUICK = sys.base_prefix == "/usr" or "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS"))
PYTHON := $(shell for test in 'fits and ($(IS_QUICK))' fits; do for p in $(PYTHONS); do \
	"$$p" -c "$$(printf '%s; sys.exit(not (%s))' '$(FITS)' "$$test")" 2>/dev/null && echo "$$p" && exit; \
	done; done; echo python3)
SETUP = @command -v $(PYTHON) >/dev/null || { echo "perfdb: Python 3.11 or newer is needed (apt-get install python3 python3-venv)" >&2; exit 1; }; \
	$(PYTHON) scripts/setup.py

.PHONY: run manage test bench calibration tour lint format lock

run:
	$(SETUP) runtime && exec .venv/bin/python -m perfdb.embedded up --with-parent

# make manage ARGS="createsuperuser"
manage:
	$(SETUP) runtime && exec .venv/bin/python -m perfdb.embedded manage $(ARGS)

# make test ARGS="-k upload"; the tests run, and have the last word, also when the linters found something.
# As many at once as the machine has processors, up to four: each process fills a database of its own.
test:
	$(SETUP) dev
	@.venv/bin/python -m frontend.tests.browser
	@.venv/bin/python -m perfdb.api.tests.ssh_server
	@$(MAKE) --no-print-directory lint; lint=$$?; .venv/bin/python -m pytest -n auto --maxprocesses 4 --dist worksteal $(ARGS) && \
		{ [ $$lint = 0 ] || { echo "perfdb: the tests pass, but make lint fails; see above"; exit 1; }; }

# docs/performance.md explains the output. make bench SCALE=1000000 takes an archive of that many runs.
bench:
	$(SETUP) dev
	@status=0; .venv/bin/python -m bench --runs $(or $(SCALE),100000) --json var/bench.json || status=1; \
		for part in browser peers; do .venv/bin/python -m bench.$$part || status=1; done; exit $$status

# Simulates how often verdicts and trends are right, some minutes; the page /how/ shows the result.
calibration:
	$(SETUP) dev
	.venv/bin/python -m bench.calibration
	.venv/bin/python -m bench.trend_calibration

# docs/tour.md and its pictures, from a fresh instance.
tour:
	$(SETUP) dev
	.venv/bin/python -m frontend.tour

lint:
	$(SETUP) dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/python scripts/docstrings.py
	.venv/bin/python scripts/words.py
	.venv/bin/mypy .

format:
	$(SETUP) dev
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

# Pins the newest versions that the .in files allow, with hashes, for every system and Python from 3.11 on.
lock:
	$(SETUP) dev
	for name in requirements requirements-s3 requirements-dev requirements-setup; do \
		UV_SYSTEM_CERTS=true .venv/bin/python -m uv pip compile --quiet --upgrade --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command 'make lock' $$name.in -o $$name.txt || exit; \
	done
