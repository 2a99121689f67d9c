"""What users write under ``grpc`` in YAML."""

from typing import Self

from nodewright.api import PluginConfig
from pydantic import Field, field_validator, model_validator


class GrpcConfig(PluginConfig):
    """The server, and how to connect to it."""

    url: str = Field(min_length=1, description="the server as host:port, or any other target that gRPC resolves")
    certificate: str = Field(
        default="", description="file with the certificates (PEM) to verify the server's certificate with"
    )
    client_certificate: str = Field(default="", description="file with our own certificate, if the server requires one")
    client_key: str = Field(default="", description="file with the key of our own certificate")
    insecure: bool = Field(default=False, description="connect without TLS: anyone on the network can choose for you")
    timeout: float = Field(default=5.0, gt=0, le=60, description="seconds to wait for an answer; the loop waits too")
    legacy_fields: bool = Field(
        default=True,
        description="also fill the fields that servers for Cluster Autoscaler up to 1.34 read; "
        "this doubles the size of requests",
    )

    @field_validator("url")
    @classmethod
    def _no_http_url(cls, url: str) -> str:
        scheme, separator, rest = url.partition("://")
        if separator and scheme in ("http", "https"):
            raise ValueError(f"write host:port, {rest.rstrip('/')}: a gRPC server has no URL")
        return url

    @model_validator(mode="after")
    def _has_one_security(self) -> Self:
        if self.insecure and (self.certificate or self.client_certificate or self.client_key):
            raise ValueError("certificates need TLS: remove insecure, or the certificates")
        if not self.insecure and not self.certificate:
            raise ValueError("needs certificate, to verify the server with, or insecure: true, to connect without TLS")
        if bool(self.client_certificate) != bool(self.client_key):
            raise ValueError("clientCertificate and clientKey belong together: write both or neither")
        return self
