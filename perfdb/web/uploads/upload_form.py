"""Upload form: the study, and facts that the files may lack."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.text import slugify

from perfdb.results.ingest import uploads
from perfdb.results.models import Study
from perfdb.results.models.dimensions import INBOX

# Facts offered by name: label, help. Any of them only fills what no file says.
FACTS = {
    "processors": ("Processors", "of the whole system, for CPU utilisation"),
    "mtu": ("MTU", "1500, 8K, 8992"),
    "users": ("Users", "concurrent connections"),
    "device": ("Device", "display name"),
    "workload": ("Workload", "RR, CRR, STRG, STRP, or with sizes: RR 200/32K"),
    "level": ("Level", "a name for the software levels"),
    "client": ("Client", "client host, as captures name it"),
    "server": ("Server", "server host"),
    "client_cpus": ("Client's processors", "CPUs it was pinned to, e.g. 0 1"),
    "server_cpus": ("Server's processors", "e.g. 2 3"),
    "roles": ("Roles of guests", "client=LNXCL1 server=LNXSRV*"),
}


class UploadForm(forms.Form):
    """Form with the study for runs: existing, new, or none for the inbox."""

    study = forms.SlugField(required=False)
    new_study = forms.CharField(required=False, max_length=200, label="New study")

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        for name, (label, help_text) in FACTS.items():
            self.fields[f"fact.{name}"] = forms.CharField(required=False, label=label, help_text=help_text)

    def clean(self) -> dict[str, Any]:
        """Find the chosen study, or check a new one's name."""
        slug, title = self.cleaned_data.get("study"), self.cleaned_data.get("new_study")
        self.chosen: Study | None = None
        if title:
            self._check_new(title)
        elif slug:
            self.chosen = Study.objects.exclude(slug=INBOX).filter(slug=slug).first()
            if self.chosen is None:
                self.add_error("study", f"There is no study {slug!r} any more; choose another.")
        return self.cleaned_data

    def _check_new(self, title: str) -> None:
        slug = slugify(title)[:80]
        if not slug or slug == INBOX:
            self.add_error("new_study", f"{title!r} cannot be a study's title; use some letters or digits.")
        elif Study.objects.filter(slug=slug).exists():
            self.add_error("new_study", f"There is a study with the address {slug!r}; choose it from the list.")

    def study_for_runs(self) -> Study | None:
        """Return the study, created if new; None for the inbox."""
        title = self.cleaned_data["new_study"]
        if title:
            return uploads.study_called(self.owner, slugify(title)[:80], title)
        return self.chosen

    def study_chosen(self) -> Study:
        """Return the study, created if new, or the inbox."""
        return self.study_for_runs() or uploads.inbox_of(self.owner)

    def facts(self) -> dict[str, str]:
        """Return the supplied circumstances without blank ones."""
        given = {name: self.cleaned_data[f"fact.{name}"] for name in FACTS}
        return {name: text for name, text in given.items() if text}

    def fact_fields(self) -> list[forms.BoundField]:
        """Return the fields of the circumstances, for the template."""
        return [self[f"fact.{name}"] for name in FACTS]
