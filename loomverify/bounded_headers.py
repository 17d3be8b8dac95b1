"""Request lines and headers, bounded before anything keeps them: the parser itself knows no limit."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEADER_BYTES = 128 * 1024


class BoundedHeaders(HttpToolsProtocol):
    """Answers 400 and closes when headers have not ended after `MAX_HEADER_BYTES`."""

    _is_in_headers = True
    _header_bytes = 0

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_in_headers:
            self._header_bytes = 0
            return
        self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            self.send_400_response("The headers are too large.")

    def on_message_begin(self) -> None:
        self._is_in_headers = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_headers = False
        super().on_headers_complete()
