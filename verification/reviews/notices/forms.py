from __future__ import annotations

from django import forms

from verification.reviews.models import Notice

CHOICES = (
    (Notice.OFF, "Never"),
    (Notice.AT_ONCE, "At once, at most every 5 minutes"),
    (Notice.HOURLY, "Every hour, when something new came"),
    (Notice.DAILY, "Every morning at 8:00, when something waits"),
)


class NoticeForm(forms.Form):
    notice = forms.ChoiceField(label="When", choices=CHOICES, widget=forms.RadioSelect)
    min_urgency = forms.IntegerField(
        label="From urgency",
        min_value=0,
        max_value=100,
        help_text="0 to 100. What waits becomes more urgent: a point every hour.",
    )
