import os
import warnings

from django.core.asgi import get_asgi_application

from loomverify.bodies import BoundedBodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")

# WhiteNoise hands over small files from the disk; there is nothing to wait for.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")

application = BoundedBodies(get_asgi_application())
