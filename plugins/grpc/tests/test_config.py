"""What may be written under the expander's name, and how Cluster Autoscaler's flags get there."""

import pytest
from nodewright.api import ConfigurationError
from nodewright.config.document import load
from nodewright.config.flags import parse_flags
from nodewright.plugins import Registry
from nodewright_grpc.expander import Grpc

PROVIDER = 'apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake: {url: "http://127.0.0.1:7070"}]\n'


def test_cluster_autoscalers_flags_are_settings() -> None:
    flags = ["--expander=priority,grpc", "--grpc-expander-url=chooser.infra.svc:7000", "--grpc-expander-cert=/ca.crt"]
    loaded = load(PROVIDER, flags=parse_flags(flags), classes=Registry())
    (mention,) = (each for each in loaded.settings.scale_up.expanders if each.name == "grpc")
    config = Grpc.Config.model_validate(mention.config)
    assert (config.url, config.certificate, config.timeout) == ("chooser.infra.svc:7000", "/ca.crt", 5.0)


@pytest.mark.parametrize(
    ("settings", "mistake"),
    [
        ("{insecure: true}", "grpc.url: is required"),
        ('{url: "", insecure: true}', "grpc.url: must not be empty"),
        (
            '{url: "https://chooser:7000/", certificate: a}',
            "grpc.url: write host:port, chooser:7000: a gRPC server has no URL",
        ),
        (
            '{url: "chooser:7000"}',
            "grpc: needs certificate, to verify the server with, or insecure: true, to connect without TLS",
        ),
        (
            '{url: "chooser:7000", insecure: true, certificate: a}',
            "grpc: certificates need TLS: remove insecure, or the certificates",
        ),
        (
            '{url: "chooser:7000", certificate: a, clientKey: b}',
            "grpc: clientCertificate and clientKey belong together: write both or neither",
        ),
        ('{url: "chooser:7000", certificate: a, timeout: 0}', "grpc.timeout: must be more than 0, not 0"),
    ],
)
def test_mistakes_are_named(settings, mistake) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(PROVIDER + f"scaleUp: {{expanders: [grpc: {settings}]}}\n", classes=Registry())
    assert f"scaleUp.expanders[0].{mistake}" in str(refusal.value)
