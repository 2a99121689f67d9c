"""The queue of events: read a few messages at a time, without waiting for more."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nodewright_aws.calls import Calls
from nodewright_aws.config import InterruptionSettings

#: AWS returns at most ten messages per call. Messages beyond these reads wait for the next loop.
_READS = 10
_PER_READ = 10


class Queue:
    """An SQS queue, by name or URL. Raises `NodewrightError` if a call fails."""

    def __init__(self, aws: Calls, settings: InterruptionSettings) -> None:
        self._aws = aws
        self._settings = settings
        self._url = settings.queue if "://" in settings.queue else ""

    def bodies(self) -> Iterator[str]:
        """Yield the bodies of up to a hundred messages; each message is deleted after its body was handled."""
        seen: set[str] = set()
        for _ in range(_READS):
            messages = self._receive()
            new = [message for message in messages if message["MessageId"] not in seen]
            if not new:
                return
            seen |= {message["MessageId"] for message in new}
            for message in new:
                yield message.get("Body", "")
            if self._settings.delete_messages:
                self._delete(messages)

    def _receive(self) -> Sequence[Mapping[str, Any]]:
        if not self._url:
            self._url = self._aws.call("sqs", "get_queue_url", QueueName=self._settings.queue)["QueueUrl"]
        # Messages that are not deleted stay visible for the queue's other readers.
        hidden: dict[str, Any] = {} if self._settings.delete_messages else {"VisibilityTimeout": 0}
        answer = self._aws.call(
            "sqs",
            "receive_message",
            QueueUrl=self._url,
            MaxNumberOfMessages=_PER_READ,
            WaitTimeSeconds=0,
            **hidden,
        )
        return answer.get("Messages") or ()

    def _delete(self, messages: Sequence[Mapping[str, Any]]) -> None:
        entries = [
            {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]} for number, message in enumerate(messages)
        ]
        # A message that could not be deleted comes again, and is known by then.
        self._aws.call("sqs", "delete_message_batch", QueueUrl=self._url, Entries=entries)
