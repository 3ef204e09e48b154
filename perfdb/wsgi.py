"""The WSGI entry for gunicorn."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdb.settings")

application = get_wsgi_application()

# An answer is made of tens of thousands of small objects, none of them a cycle: looking for cycles after every 700
# took a third of its time. What was loaded at the start stays, and need not be looked at again.
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 20)
