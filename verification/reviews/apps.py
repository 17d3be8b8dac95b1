from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "verification.reviews"
    label = "reviews"

    def ready(self) -> None:
        from verification.reviews import settling
        from verification.reviews.notices import digests, lists
        from verification.reviews.notices import services as notices
        from verification.runs import outbox

        told = lists.MailList("reviews", notices.turn_off, page="review_notices")
        lists.register(lists.REVIEWS, told)
        outbox.on_sweep(settling.sweep)
        outbox.on_sweep(notices.sweep)
        outbox.on_sweep(digests.sweep)
