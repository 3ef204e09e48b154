# The image for web, worker, beat and migrate; docker-compose.yml says which is which.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    PERFDB_HOME=/var/lib/perfdb \
    STATIC_ROOT=/srv/perfdb/static
WORKDIR /app

COPY requirements-setup.txt requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements-setup.txt \
    && uv pip install --system --no-cache --compile-bytecode --require-hashes -r requirements.txt

COPY . .
# The settings want a database and a secret, which collecting static files does not use.
RUN SECRET_KEY=unused DATABASE_URL=postgres:///unused REDIS_URL=redis://unused \
    python manage.py collectstatic --noinput --verbosity=0 \
    && useradd --system --uid 1000 perfdb \
    && install --directory --owner=perfdb --mode=0700 /var/lib/perfdb

USER perfdb
VOLUME /var/lib/perfdb
EXPOSE 8000
CMD ["gunicorn", "perfdb.wsgi", "--bind=0.0.0.0:8000", "--worker-class=gthread", "--workers=2", "--threads=4", "--timeout=120"]
