"""Static files: compressed once, with hashed names for caching.

`manage.py collectstatic` does the work; the launcher and the image call it.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

import brotli
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Quality 11 takes 12 s for plotly.min.js and 9 takes 0.8 s; the file is 11% larger then.
BROTLI_BEST, BROTLI_FAST = 11, 9
BROTLI_BEST_UP_TO_BYTES = 100_000
_IMPORT = re.compile(r'^@import "([^"]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class PerfdbStaticFilesConfig(StaticFilesConfig):
    """App configuration that leaves out source maps and plotly's other files."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "*.map", "datasets", "templates", "widgetbundle.js"]


class QuickCompressor(Compressor):  # type: ignore[misc]
    """Compressor with less effort for large files, so that a first start is fast."""

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        quality = BROTLI_BEST if len(data) <= BROTLI_BEST_UP_TO_BYTES else BROTLI_FAST
        return bytes(brotli.compress(data, quality=quality))


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Storage with hashed names, also in the `import` lines of js/; without source maps."""

    joins_sheets = True

    patterns = (
        ("*.css", HashedFilesMixin.patterns[0][1][:2]),
        ("js/*.js", HashedFilesMixin._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]
    )

    def post_process(
        self, paths: dict[str, tuple[Storage, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        """Join style sheets with imports before names are hashed."""
        yield from super().post_process(paths if dry_run else paths | self._joined(paths), dry_run, **options)

    def _joined(self, paths: Mapping[str, tuple[Storage, str]]) -> dict[str, tuple[Storage, str]]:
        def read(name: str) -> str:
            storage, path = paths[name]
            with storage.open(path) as sheet:
                return bytes(sheet.read()).decode()

        sheets = {name: join_sheet(name, read) for name in paths if fnmatch(name, "css/*.css")}
        changed = {name: text for name, text in sheets.items() if text != read(name)}
        for name, text in changed.items():
            self.delete(name)
            self.save(name, ContentFile(text.encode()))
        return {name: (self, name) for name in changed}

    def create_compressor(self, **kwargs: object) -> Compressor:
        return QuickCompressor(**kwargs)


def join_sheet(name: str, read: Callable[[str], str]) -> str:
    """Return a sheet with all imports inserted; ``read`` returns a sheet by name."""
    return "".join(map(read, list_parts(name, read)))


def list_parts(name: str, read: Callable[[str], str]) -> list[str]:
    """Return the names of a sheet's imported parts in order, or its own name.

    Raise ValueError if a sheet has both imports and rules, whose order would be undefined.
    """
    text, folder = read(name), posixpath.dirname(name)
    imports = _IMPORT.findall(text)
    if imports and _COMMENT.sub("", _IMPORT.sub("", text)).strip():
        raise ValueError(f"{name} imports style sheets and has rules of its own: put these into one of them")
    return [part for each in imports for part in list_parts(posixpath.join(folder, each), read)] or [name]
