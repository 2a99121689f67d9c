"""What YAML may say under ``grpc``."""

from typing import Self

from nodewright.api import PluginConfig
from pydantic import Field, field_validator, model_validator


class GrpcConfig(PluginConfig):
    """Where the server is, and how to talk to it."""

    url: str = Field(min_length=1, description="the server, as host:port, or any other target that gRPC can resolve")
    certificate: str = Field(
        default="", description="file with the certificates (PEM) that the server's certificate is checked against"
    )
    client_certificate: str = Field(default="", description="file with our own certificate, where the server wants one")
    client_key: str = Field(default="", description="file with the key of our own certificate")
    insecure: bool = Field(default=False, description="talk without TLS: anybody on the way can choose for you")
    timeout: float = Field(default=5.0, gt=0, le=60, description="seconds to wait for an answer; the loop waits too")
    legacy_fields: bool = Field(
        default=True,
        description="also fill the fields that servers made for Cluster Autoscaler up to 1.34 read; "
        "questions are twice as long by it",
    )

    @field_validator("url")
    @classmethod
    def _no_url_of_the_web(cls, url: str) -> str:
        scheme, separator, rest = url.partition("://")
        if separator and scheme in ("http", "https"):
            raise ValueError(f"write host:port, {rest.rstrip('/')}: gRPC servers have no URL of the web")
        return url

    @model_validator(mode="after")
    def _secured_in_one_way(self) -> Self:
        if self.insecure and (self.certificate or self.client_certificate or self.client_key):
            raise ValueError("there are no certificates without TLS: take out insecure, or them")
        if not self.insecure and not self.certificate:
            raise ValueError("needs certificate, to check the server's against it, or insecure: true, to do without")
        if bool(self.client_certificate) != bool(self.client_key):
            raise ValueError("clientCertificate and clientKey belong together: write both or neither")
        return self
