"""Which static files are served, compressed once, and under names with a hash, so that a browser keeps them for ever.

`manage.py collectstatic` does the work; the launcher and the image call it.
"""

import brotli
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.storage import HashedFilesMixin
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Quality 11 takes 12 s for plotly.min.js and 9 takes 0.8 s; the file is 11 % larger then.
BROTLI_BEST, BROTLI_FAST = 11, 9
BROTLI_BEST_UP_TO_BYTES = 100_000


class PerfdbStaticFilesConfig(StaticFilesConfig):
    """Leaves out what no page asks for: source maps and what lies beside plotly.min.js in its wheel."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "*.map", "datasets", "templates", "widgetbundle.js"]


class QuickCompressor(Compressor):  # type: ignore[misc]
    """Compresses large files with less effort, so that a first start does not wait for them."""

    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        quality = BROTLI_BEST if len(data) <= BROTLI_BEST_UP_TO_BYTES else BROTLI_FAST
        return bytes(brotli.compress(data, quality=quality))


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names with a hash, also in the `import` lines of our own modules (js/): others' bundles have none.

    The patterns are Django's without source maps, which are left out.
    """

    patterns = (
        (
            "*.css",
            (
                r"""(?P<matched>url\(['"]{0,1}\s*(?P<url>.*?)["']{0,1}\))""",
                (
                    r"""(?P<matched>@import\s*["']\s*(?P<url>.*?)["'])""",
                    """@import url("%(url)s")""",
                ),
            ),
        ),
        ("js/*.js", HashedFilesMixin._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]
    )

    def create_compressor(self, **kwargs: object) -> Compressor:
        return QuickCompressor(**kwargs)
