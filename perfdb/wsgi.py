"""WSGI entry for gunicorn."""

import os

from django.core.wsgi import get_wsgi_application

from perfdb.celery import collect_seldom

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdb.settings")

application = get_wsgi_application()
collect_seldom()
