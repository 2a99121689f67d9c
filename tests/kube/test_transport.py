"""A transport that does not check certificates warns about it."""

import logging

import pytest
from nodewright.kube.transport import connect

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: there, cluster: {{server: "https://127.0.0.1:6443", insecure-skip-tls-verify: {careless}}}}}]
users: [{{name: me, user: {{token: some-token}}}}]
contexts: [{{name: here, context: {{cluster: there, user: me}}}}]
current-context: here
"""


@pytest.mark.parametrize(("careless", "said"), [("true", 1), ("false", 0)])
def test_an_unchecked_certificate_is_logged_once(tmp_path, caplog, careless, said) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG.format(careless=careless))
    with caplog.at_level(logging.WARNING):
        connect(kubeconfig=str(kubeconfig))
    warning = "certificates are not checked: any server at https://127.0.0.1:6443 is taken for the API server"
    assert caplog.messages == [warning] * said
