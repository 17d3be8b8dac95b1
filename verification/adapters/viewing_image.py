"""A picture painted anew, so that what is handed on holds its pixels and nothing else."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

from PIL import Image, ImageOps, UnidentifiedImageError

from verification.adapters.viewing_text import CannotShow

FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
MAX_PIXELS: Final = 40_000_000
MAX_SIDE: Final = 2_000
MAX_PNG_BYTES: Final = 3_000_000

warnings.simplefilter("error", Image.DecompressionBombWarning)
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


def shown(content: bytes, asked: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[bytes]]:
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise CannotShow(f"It has {width:,} by {height:,} pixels: too many to show here.")
            told = {"format": image.format, "width": width, "height": height}
            told["is_animated"] = bool(getattr(image, "is_animated", False))
            image.draft("RGB", (MAX_SIDE, MAX_SIDE))
            painted = ImageOps.exif_transpose(image)
            painted.thumbnail((MAX_SIDE, MAX_SIDE))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise CannotShow("It has too many pixels to show here.") from error
    except (CannotShow, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise CannotShow("This picture is broken.") from error
    except Exception as error:
        # Whatever the decoder stumbles over is the file's.
        raise CannotShow("This picture is broken.") from error
    kind, picture = painted_bytes(painted)
    return {**told, "type": kind, "shown": painted.size}, [picture]


def painted_bytes(image: Image.Image) -> tuple[str, bytes]:
    """The content type and the bytes, without anything the picture said beside its pixels."""
    has_alpha = image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info
    plain = image.convert("RGBA" if has_alpha else "RGB")
    plain.info = {}
    out = io.BytesIO()
    plain.save(out, "PNG", compress_level=4)
    if out.tell() <= MAX_PNG_BYTES:
        return "image/png", out.getvalue()
    out = io.BytesIO()
    if has_alpha:
        ground = Image.new("RGB", plain.size, "white")
        ground.paste(plain, mask=plain.getchannel("A"))
        plain = ground
    plain.save(out, "JPEG", quality=85)
    return "image/jpeg", out.getvalue()
